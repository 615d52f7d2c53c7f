package pagefile

// Varints reads SQLite's variable-length integers, the highest bits first
// (https://sqlite.org/fileformat.html#varint). Once one is missing, it is bad.
type Varints struct {
	B   []byte // what is left to read
	Bad bool   // an integer was missing
}

// Next reads the next integer; it is 0 if that is missing.
func (d *Varints) Next() (v uint64) {
	for i, c := range d.B {
		if i == 8 {
			d.B = d.B[9:]
			return v<<8 | uint64(c)
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			d.B = d.B[i+1:]
			return v
		}
	}
	d.Bad, d.B = true, nil
	return 0
}
