# SPDX-License-Identifier: ISC
# Not the module of that name: it fails, and is run once.
print('imported')
raise ImportError('none of yours')
