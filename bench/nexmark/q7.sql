-- The highest bids of each ten seconds.
CREATE MATERIALIZED VIEW q7 AS
SELECT b.auction, b.price, b.bidder, b.date_time, b.extra
FROM bid b JOIN (
    SELECT max(price) AS most, window_end
    FROM TUMBLE(bid, date_time, INTERVAL '10 seconds')
    GROUP BY window_end
) m ON b.price = m.most AND b.date_time BETWEEN m.window_end - INTERVAL '10 seconds' AND m.window_end;
