# SPDX-License-Identifier: ISC
import sys

from weft import _program

if __name__ == '__main__':
    _program.main(sys.argv[1:])
