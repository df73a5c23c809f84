// Builds the program into dist: one ES module that contains the client, so that it runs without any other package.

import { chmodSync, copyFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

const folder = import.meta.dirname
const dist = path.join(folder, 'dist')
const outfile = path.join(dist, 'tintype.js')

rmSync(dist, { recursive: true, force: true })
await build({
  absWorkingDir: folder,
  entryPoints: ['src/main.ts'],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  banner: { js: '#!/usr/bin/env node' },
  logLevel: 'warning',
})
chmodSync(outfile, 0o755)
copyFileSync(path.join(folder, '../../LICENSE'), path.join(dist, 'LICENSE'))
