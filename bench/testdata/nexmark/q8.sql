CREATE MATERIALIZED VIEW q8 AS
SELECT p.id, p.name, p.window_start
FROM (SELECT DISTINCT id, name, date_bin('10 seconds', date_time, '2000-01-01') AS window_start FROM person) p
JOIN (SELECT DISTINCT seller, date_bin('10 seconds', date_time, '2000-01-01') AS window_start FROM auction) a ON p.id = a.seller AND p.window_start = a.window_start;
