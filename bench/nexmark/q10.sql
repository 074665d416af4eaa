-- Log: bids with their day and minute, by which a store of files would be split.
CREATE MATERIALIZED VIEW q10 AS
SELECT auction, bidder, price, date_time, extra, to_char(date_time, 'YYYY-MM-DD') AS day, to_char(date_time, 'HH24:MI') AS minute FROM bid;
