35:    return cli_ship_block(&shipment->send, batch, table, block);
42:    return cli_ship_known(&shipment->send, table, block);
49:    shipment->run.is_finished = is_finished;
50:    shipment->run.version = cli_ship_now_ns();
51:    probity_fleet_run_put(&batch, &shipment->run, probity_reader_facts(shipment->reader, 0));
54:                    : cli_ship_block(&shipment->send, &batch, PROBITY_FLEET_RUNS, 0);
61:    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);
67:        const uint64_t values[] = {shipment->run.run, drop->from_ns, drop->to_ns, drop->records};
73:                    : cli_ship_block(&shipment->send, &batch, PROBITY_FLEET_LOSSES, 0);
86:    struct probity_fleet_rows *rows = shipment->rows;
89:    while (error == 0 && (got = probity_reader_next(shipment->reader, &event)) > 0)
94:        error = probity_reader_profile(shipment->reader, 0, take_profiled, rows);
107:               : cli_fail_trace(shipment->options->command, shipment->send.trace, error, errno);
112:    struct probity_fleet_run *run = &shipment->run;
113:    int status = cli_ship_verify(&shipment->send);
115:    if (status != CLI_OK || shipment->send.missing_blocks > 0)
117:    run->repairs = *probity_fleet_rows_repairs(shipment->rows);
119:        run->rows[i] = probity_fleet_rows_count(shipment->rows, (enum probity_fleet_table_number)i);
124:        cli_warn(shipment->options->command, "'%s' has no calls of functions; hits of probes are not sent",
125:                 shipment->send.trace);
126:    if (shipment->send.lost_blocks > 0)
127:        cli_warn(shipment->options->command, "'%s': the server no longer had %" PRIu64 " blocks that it had acknowledged; "
128:                 "they were sent again", shipment->send.trace, shipment->send.lost_blocks);
129:    if (cli_ledger_finish(&shipment->ledger, probity_fleet_detail_name(run->detail)) != 0)
130:        cli_warn(shipment->options->command, "cannot write '%s': %s", shipment->ledger.path, strerror(errno));
137:        .run = shipment->run.run,
138:        .block_rows = shipment->run.block_rows,
139:        .detail = shipment->run.detail,
140:        .has_cpu = probity_reader_facts(shipment->reader, 0)->info.flags & PROBITY_INFO_CPU_TIshipment->options->command,
142:    int error = probity_fleet_rows_open(&options, &shipment->rows);
150:    if (shipment->rows != NULL)
151:        probity_fleet_rows_close(shipment->rows);
152:    shipment->rows = NULL;
162:    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);
163:    struct probity_fleet_run *run = &shipment->run;
164:    struct cli_ship_send *send = &shipment->send;
172:    shipment->is_there = there.is_finished && there.detail == run->detail &&
178:        shipment->is_there = shipment->is_there && rows == there.rows[i];
