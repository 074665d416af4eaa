package state

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// Keyspaces, the first byte of every key (State: on disk; do not change or
// reuse). Those written by checkpoints come after those of the log and are
// contiguous, so that the tables that a checkpoint ingests do not overlap with
// log keys in memory.
const (
	keyChunk    byte = 'c' // c | relation 4 | epoch 8 | index 4: a chunk of the input log
	keyEpoch    byte = 'e' // e | epoch 8: header of an epoch record
	keyInfo     byte = 'i' // i | name: named records outside checkpoints
	keySpool    byte = 'p' // p | spool 8 | index 4: chunk of a large statement
	keySpoolRef byte = 'q' // q | spool 8: relation and epoch that the spool belongs to
	keySpace    byte = 's' // s | view 4 | ...: operator state, see package table
	keyContent  byte = 't' // t | relation 4 | chunk 8: append-only contents
	keyRow      byte = 'u' // u | relation 4 | key | row: contents that change
	keyCount    byte = 'v' // v | relation 4: what a relation holds, in numbers
	keyMark     byte = 'w' // w | name: named records of the checkpoint; w | "checkpoint" is its marker
)

// newKey begins a key, with room for the longest of fixed length.
func newKey(space byte) []byte { return append(make([]byte, 0, 24), space) }

func relationKey(space byte, oid catalog.OID) []byte {
	return binary.BigEndian.AppendUint32(newKey(space), uint32(oid))
}

func epochKey(epoch uint64) []byte {
	return binary.BigEndian.AppendUint64(newKey(keyEpoch), epoch)
}

func chunkKey(oid catalog.OID, epoch uint64, index int) []byte {
	k := binary.BigEndian.AppendUint64(relationKey(keyChunk, oid), epoch)
	return binary.BigEndian.AppendUint32(k, uint32(index))
}

func chunkFrom(oid catalog.OID, epoch uint64) []byte {
	return binary.BigEndian.AppendUint64(relationKey(keyChunk, oid), epoch)
}

func spoolKey(id uint64, index int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(newKey(keySpool), id), uint32(index))
}

func spoolRefKey(id uint64) []byte { return binary.BigEndian.AppendUint64(newKey(keySpoolRef), id) }

func contentKey(oid catalog.OID, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(relationKey(keyContent, oid), seq)
}

func namedKey(space byte, name string) []byte { return append([]byte{space}, name...) }

// after gives the smallest key greater than all keys with the prefix. No prefix of ours is all 0xFF.
func after(prefix []byte) []byte {
	for i := len(prefix) - 1; ; i-- {
		if prefix[i] != 0xFF {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
}
