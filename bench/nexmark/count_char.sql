CREATE FUNCTION count_char(s varchar, c varchar) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT length(s) - length(replace(s, c, ''''))';
