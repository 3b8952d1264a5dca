// What the interpreter of bench/real runs: calls, objects, closures, text, sorting. SIZE is set.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function Point(x, y) { this.x = x; this.y = y; }
Point.prototype.add = function (other) { return new Point(this.x + other.x, this.y + other.y); };

function points(count) {
    let sum = new Point(0, 0);
    for (let i = 0; i < count; i++)
        sum = sum.add(new Point(i % 7, i % 11));
    return sum.x + sum.y;
}

function words(count) {
    const found = new Map();
    let text = '';
    for (let i = 0; i < count; i++)
        text += 'word' + (i * 7919 % 101) + ' ';
    for (const word of text.split(' '))
        found.set(word, (found.get(word) || 0) + 1);
    return [...found].map(([word, times]) => word + times).sort().join().length;
}

function sorted(count) {
    const numbers = [];
    for (let i = 0; i < count; i++)
        numbers.push(i * 48271 % 65537);
    numbers.sort((a, b) => a - b);
    return numbers.filter((n) => n % 3 === 0).reduce((sum, n) => sum + n, 0);
}

function parsed(count) {
    const made = [];
    for (let i = 0; i < count; i++)
        made.push({ id: i, name: `n${i}`, tags: [i % 3, i % 5] });
    return JSON.parse(JSON.stringify(made)).length;
}

function matched(count) {
    let total = 0;
    for (let i = 0; i < count; i++)
        total += `k${i}=v${i * 3}`.replace(/(\w)(\d+)=/g, '$2:').length;
    return total;
}

let fibs = 0;
for (let i = 0; i < 4; i++)
    fibs += fib(SIZE > 1000 ? 19 : 10);
[fibs, points(SIZE), words(SIZE), sorted(SIZE), parsed(SIZE / 4), matched(SIZE / 4)].join(' ');
