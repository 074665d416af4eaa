CREATE STREAM bid (
    auction bigint, bidder bigint, price bigint, channel varchar, url varchar, date_time timestamp, extra varchar,
    WATERMARK FOR date_time AS date_time - INTERVAL '4 seconds'
) WITH (connector = 'nexmark', nexmark.table.type = 'Bid', nexmark.event.num = :'events', nexmark.min.event.gap.in.ns = '0', retention = '0');
