// Package connector is the contract between the engine and what feeds its streams from outside. A connector opens a Source
// at an Offset; the source gives Chunks of rows, each with the Extent of the input that it came from. The engine records the
// extent with the rows, or instead of them, in one epoch: that is what makes every row count exactly once.
//
// The rule that everything rests on: a source replays identically. The same extent, read again with the same columns, gives the
// same rows in the same order, or an error that says that the input has changed.
//
// A connector knows nothing of epochs, views or the log, and the engine nothing of files or partitions but their names.
package connector

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Connector is one kind of source. Its methods may be called from any goroutine.
type Connector interface {
	// Check tests options and columns as CREATE STREAM gives them. Errors are for the client: 22023 for an option, 0A000 for what is
	// not built. It does not look at the source itself, which may come later.
	Check(Config) error
	// Bounded says whether a source with these options, which Check has passed, ends.
	Bounded(options map[string]string) bool
	// Open starts a source at the offset of the config.
	Open(Config) (Source, error)
	// Reread opens the source to read recorded extents again; the config's offset does not matter.
	Reread(Config) (Rereader, error)
}

// Prober is a Connector that can look at its input when a stream is created.
type Prober interface {
	// Probe gives, as a notice or a warning, what is remarkable about the input as it is now; nil if nothing is. Nothing of it is an error, as the
	// input may come or change. It does not wait. The config is one that Check has passed.
	Probe(Config) *sqlerr.Error
}

// Config is what a source is opened with.
type Config struct {
	// Options are those of the stream, names in lower case.
	Options map[string]string
	// Columns are those of the stream; they are not modified.
	Columns []catalog.Column
	// Offset is where to begin. The source gets it as its own.
	Offset *Offset
	// Fingerprint asks for the hash of each chunk: its rows will not be kept.
	Fingerprint bool
}

// Source reads one stream's input. It is used by one goroutine.
type Source interface {
	// Read gives at most about max rows, the next ones. nil without an error: there is nothing now. io.EOF: a bounded source has
	// ended. Any other error may pass, and the source is opened again, except 55000 and XX001, which stop the stream.
	Read(ctx context.Context, max int) (*Chunk, error)
	// Close ends the source.
	Close() error
}

// Noter is a Source that may have something to tell although nothing fails.
type Noter interface {
	// Note gives what those who look after the stream should know about its input, as of the last Read, such as that there is none where it is looked
	// for; "" if nothing is remarkable.
	Note() string
}

// Rereader reads extents again. It is used by one goroutine, and is fastest where extents follow one another.
type Rereader interface {
	// Reread gives the rows of an extent. Columns that did not exist when it was read are missing from the batch, which is the caller's.
	// An input that is gone or no longer the same is an error (XX001).
	Reread(ctx context.Context, e *Extent) (*batch.Batch, error)
	// Close ends it.
	Close() error
}

// Chunk is what one Read gives.
type Chunk struct {
	// Rows has all columns of the stream; it is the reader's. It may be empty.
	Rows *batch.Batch
	// Bad are the rows that could not be decoded.
	Bad []BadRow
	// Extent is what was read: rows, bad ones, and input without either, such as an empty file.
	Extent Extent
	// Lag is how much input was known to wait behind it, bytes.
	Lag int64
}

// BadRow is a row that could not be decoded.
type BadRow struct {
	// Part and Line, from 1, say where it stands; Line 0: the whole part.
	Part string
	Line int64
	// Err says what is wrong with it.
	Err *sqlerr.Error
	// Raw is its text, cut to a bounded length.
	Raw string
}

// Extent is a range of a source's input. It is stored, as JSON, in the record of the epoch that took it in.
type Extent struct {
	Spans []Span
	// Rows were decoded, Errors not.
	Rows   int64
	Errors int64 `json:",omitempty"`
	// Columns is the number of the stream's columns that rows had.
	Columns int
	// Hash is the fingerprint of the rows, where it was asked for.
	Hash uint64 `json:",omitempty"`
	// Floor is a time of modification: parts of before it that were read to their end are not asked for any more. 0: none.
	Floor int64 `json:",omitempty"`
}

// Span is a range of one part of the input: of a file bytes after decompression, or rows of a Parquet file.
type Span struct {
	Part     string
	From, To int64
	// Line is the number of lines before From, ToLine before To, where the part has lines.
	Line   int64 `json:",omitempty"`
	ToLine int64 `json:",omitempty"`
	// Size (bytes) and ModTime (microseconds since 1970) of the part as it was read.
	Size    int64
	ModTime int64
	// Done: the part was read to its end. Cut: its last line had no line end.
	Done bool `json:",omitempty"`
	Cut  bool `json:",omitempty"`
}
