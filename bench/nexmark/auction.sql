CREATE STREAM auction (
    id bigint, item_name varchar, description varchar, initial_bid bigint, reserve bigint, date_time timestamp, expires timestamp,
    seller bigint, category bigint, extra varchar,
    WATERMARK FOR date_time AS date_time - INTERVAL '4 seconds'
) WITH (connector = 'nexmark', nexmark.table.type = 'Auction', nexmark.event.num = :'events', nexmark.min.event.gap.in.ns = '0', retention = '0');
