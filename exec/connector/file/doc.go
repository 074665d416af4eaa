// Package file is the connector of files: CSV, JSON lines and Parquet in a directory, in order of name or time, plain or compressed.
//
//   - listing.go finds the files that are due;
//   - source.go reads them one after the other into chunks, reread.go reads recorded extents again;
//   - lines.go gives the lines of a text file, decompressed, with their positions;
//   - csv.go and json.go decode the plain case (no quotes; flat objects without escapes) in one pass over the bytes, csv_quoted.go and
//     json_general.go everything else; parquet.go reads column pages, parquet_values.go turns them into ours;
//   - notes.go tells what is remarkable about the files although nothing fails;
//   - field.go turns the text of one field into a value of a column.
//
// A row that cannot be decoded is a BadRow with its file and line, and reading goes on behind it. Files must be complete when they
// appear (written elsewhere and renamed), except that a plain text file may grow: it is read on where it ended.
package file
