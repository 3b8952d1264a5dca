import tseslint from "typescript-eslint";

export default tseslint.config(
    ...tseslint.configs.strictTypeChecked,
    ...tseslint.configs.stylisticTypeChecked,
    {
        languageOptions: { parserOptions: { projectService: true } },
        rules: {
            // Numbers in texts are what this page is about.
            "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
            // What a trace holds is text: nothing here may turn it into markup.
            "no-restricted-syntax": ["error",
                { selector: "MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML|write)$/]",
                    message: "Text of a trace must never become markup." },
                { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
                    message: "Text of a trace must never become markup." }],
        },
    },
);
