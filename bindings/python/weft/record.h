/* SPDX-License-Identifier: ISC */
#ifndef WEFT_PYTHON_RECORD_H
#define WEFT_PYTHON_RECORD_H

#include "python.h"

/* The recording functions, ending with an empty row. */
extern PyMethodDef weft_python_functions[];

#endif
