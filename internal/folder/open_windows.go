package folder

import "os"

const openFlags = os.O_RDONLY
