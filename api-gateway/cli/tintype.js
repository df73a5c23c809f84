#!/usr/bin/env node
import { existsSync } from 'node:fs'

// Runs the program. A checkout of the repository has its sources, which need Node.js 24 or newer; the package has a bundle instead.
const sources = new URL('src/main.ts', import.meta.url)
await import(existsSync(sources) ? sources.href : './dist/tintype.js')
