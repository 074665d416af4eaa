CREATE STREAM person (
    id bigint, name varchar, email_address varchar, credit_card varchar, city varchar, state varchar, date_time timestamp, extra varchar,
    WATERMARK FOR date_time AS date_time - INTERVAL '4 seconds'
) WITH (connector = 'nexmark', nexmark.table.type = 'Person', nexmark.event.num = :'events', nexmark.min.event.gap.in.ns = '0', retention = '0');
