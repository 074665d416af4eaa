-- The ten highest bids of each auction.
CREATE MATERIALIZED VIEW q19 AS
SELECT auction, bidder, price, channel, url, date_time, extra, place
FROM (
    SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS place FROM bid
) q
WHERE place <= 10;
