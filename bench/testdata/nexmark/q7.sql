CREATE MATERIALIZED VIEW q7 AS
SELECT b.auction, b.price, b.bidder, b.date_time, b.extra
FROM bid b JOIN (SELECT max(price) AS most, date_bin('10 seconds', date_time, '2000-01-01') + interval '10 seconds' AS window_end FROM bid GROUP BY 2) m
ON b.price = m.most AND b.date_time BETWEEN m.window_end - interval '10 seconds' AND m.window_end;
