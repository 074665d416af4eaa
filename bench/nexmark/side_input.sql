CREATE TABLE side_input (key bigint PRIMARY KEY, value varchar);
INSERT INTO side_input SELECT n, 'value-' || n FROM generate_series(0, 9999) n;
