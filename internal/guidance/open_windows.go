package guidance

import "os"

const openFlags = os.O_RDONLY
