CREATE TABLE t (id int PRIMARY KEY, name text NOT NULL, price numeric(10,2) DEFAULT 0, qty int CHECK (qty > 0), d date, ts timestamp, tz timestamptz, f float8, ok bool, tags text[], code varchar(5));
CREATE TABLE u (id bigint, tid int, note text, ts timestamp);
CREATE TABLE k2 (a int, b int, c text, PRIMARY KEY (a, b));
