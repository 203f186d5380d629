# SPDX-License-Identifier: ISC
"""Prints where packages with extension modules go below a prefix, relative to it.

    site_folder.py PREFIX

Python searches some folders below some prefixes: Debian's searches /usr/local/lib/python3.11/dist-packages and
/usr/lib/python3/dist-packages. Below other prefixes it is Python's usual folder, which PYTHONPATH then has to name.
"""
import os
import site
import sys

prefix = sys.argv[1].rstrip('/') + '/'
usual = 'lib/python%d.%d/site-packages' % sys.version_info[:2]
folders = [folder[len(prefix):] for folder in site.getsitepackages() if folder.startswith(prefix + 'lib/')]
print(folders[0] if folders else usual)
