//go:build !linux

package table

import "errors"

func mapMemory(int) ([]byte, error) { return nil, errors.ErrUnsupported }

func remapMemory([]byte, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapMemory([]byte) error { return nil }
