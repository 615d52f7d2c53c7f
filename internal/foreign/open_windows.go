package foreign

import "os"

const openFlags = os.O_RDONLY
