package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// sum is the checksum of a result, without the row of the flush: it does not depend on the order of rows.
type sum struct {
	rows int64
	bits uint64
}

// add takes a row in, its values as numbers: times in milliseconds, prices in cents, of a name the digits, NULL as -2.
func (s *sum) add(row []int64) {
	var h uint64
	for _, v := range row {
		h = (h ^ uint64(v)) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	s.rows++
	s.bits += h
}

// pgEpoch is 2000-01-01 in milliseconds since 1970.
const pgEpoch = 946_684_800_000

// number reads a value in the binary form of PostgreSQL.
func number(column string, b []byte) (int64, error) {
	switch {
	case b == nil:
		return -2, nil
	case bytes.HasPrefix(b, []byte("name-")):
		return strconv.ParseInt(strings.Replace(string(b[5:]), "00000-1", "-1", 1), 10, 64)
	case len(b) != 8:
		return 0, fmt.Errorf("column %s has a value of %d bytes", column, len(b))
	}
	v := binary.BigEndian.Uint64(b)
	switch column {
	case "ts", "w", "e", "its", "cts":
		return int64(v)/1000 + pgEpoch, nil
	case "m":
		return int64(math.RoundToEven(math.Float64frombits(v) * 100)), nil
	}
	return int64(v), nil
}

// resultSum reads a view and gives its checksum.
func resultSum(ctx context.Context, c *pgconn.PgConn, view, columns string) (s sum, err error) {
	names := strings.Fields(columns)
	key := 0
	for i, n := range names {
		if n == "id" || n == "k" || n == "k3" {
			key = i
		}
	}
	r := c.ExecParams(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+view, nil, nil, nil, []int16{1})
	row := make([]int64, len(names))
	for r.NextRow() {
		for i, b := range r.Values() {
			if row[i], err = number(names[i], b); err != nil {
				return s, err
			}
		}
		if row[key] != -1 {
			s.add(row)
		}
	}
	_, err = r.Close()
	return s, err
}
