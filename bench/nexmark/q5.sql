-- Hot items: the auctions with the most bids of the last ten seconds, every two seconds.
CREATE MATERIALIZED VIEW q5 AS
SELECT b.auction, b.num, b.window_start, b.window_end
FROM (
    SELECT auction, count(*) AS num, window_start, window_end
    FROM HOP(bid, date_time, INTERVAL '2 seconds', INTERVAL '10 seconds')
    GROUP BY auction, window_start, window_end
) b JOIN (
    SELECT max(num) AS most, window_start, window_end
    FROM (
        SELECT count(*) AS num, window_start, window_end
        FROM HOP(bid, date_time, INTERVAL '2 seconds', INTERVAL '10 seconds')
        GROUP BY auction, window_start, window_end
    ) c
    GROUP BY window_start, window_end
) m ON b.window_start = m.window_start AND b.window_end = m.window_end AND b.num >= m.most;
