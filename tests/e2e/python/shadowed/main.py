# SPDX-License-Identifier: ISC
import asyncio
