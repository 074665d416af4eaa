-- The bundled example: the temperature of one machine, a reading each five minutes, over eleven weeks,
-- with a shutdown and a failure in it. `make run` runs this file once, on an empty database.

CREATE STREAM machine (
  ts timestamp,
  temperature double precision,
  WATERMARK FOR ts AS ts - INTERVAL '1 hour'
);

-- Stateless: every reading below the threshold, as it comes in.
CREATE MATERIALIZED VIEW cold_readings AS
SELECT ts, temperature FROM machine WHERE temperature < 50;

-- One row an hour, corrected while readings of the hour come in.
CREATE MATERIALIZED VIEW machine_hourly AS
SELECT window.start AS window_start, count(*) AS n, min(temperature) AS lo, avg(temperature) AS mean, max(temperature) AS hi
FROM machine GROUP BY window(ts, '1 hour');

-- A view over that view.
CREATE MATERIALIZED VIEW machine_alarms AS
SELECT window_start, n, lo, mean, hi FROM machine_hourly WHERE lo < 50;

-- Runs of cold readings with no gap of more than half an hour, each shown once it is over.
CREATE MATERIALIZED VIEW cold_spells WITH (output_mode = 'append') AS
SELECT session_window.start AS since, session_window.end AS until, count(*) AS readings, min(temperature) AS lowest
FROM machine WHERE temperature < 50 GROUP BY session_window(ts, '30 minutes');

\copy machine FROM 'machine_temperature.csv' WITH (FORMAT csv, HEADER true)
