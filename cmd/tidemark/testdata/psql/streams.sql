CREATE STREAM sensor (device text NOT NULL, ts timestamp, temp float8 DEFAULT 20.5, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
CREATE MATERIALIZED VIEW hourly AS SELECT window(ts, '1 hour') AS w, device, avg(temp) AS mean FROM sensor GROUP BY window(ts, '1 hour'), device;
CREATE VIEW hot AS SELECT * FROM hourly WHERE mean > 30;
INSERT INTO sensor VALUES ('a', '2024-01-01 00:30', 31), ('b', '2024-01-01 01:30', 5);
\d
\dt
\d sensor
\d hourly
\d+ hot
\sv hot
SELECT * FROM hourly ORDER BY device;
SELECT * FROM hot \gdesc
