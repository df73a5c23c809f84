#!/usr/bin/env node
import { existsSync } from 'node:fs'

// Runs the program. A checkout of the repository has its sources, which need Node.js 24 or newer; the package has a bundle instead.
const sources = new URL('src/main.ts', import.meta.url)
if (!existsSync(sources)) await import('./dist/tintype.js')
else if (process.features.typescript) await import(sources.href)
else {
  console.error(`tintype: a checkout needs Node.js 24 or newer, and this is ${process.version}. Run \`npx tintype\` in the checkout.`)
  process.exitCode = 1
}
