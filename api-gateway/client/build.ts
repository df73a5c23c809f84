// Builds the package into dist: one ES module by esbuild, and the declarations of tsc.

import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

const folder = import.meta.dirname
const dist = path.join(folder, 'dist')
const root = path.join(folder, '../..')

rmSync(dist, { recursive: true, force: true })
await build({
  absWorkingDir: folder,
  entryPoints: ['src/index.ts'],
  outfile: path.join(dist, 'index.js'),
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: ['es2022', 'node20', 'chrome120', 'firefox120', 'safari17'],
  sourcemap: true,
  sourcesContent: true,
  logLevel: 'warning',
})
execFileSync(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', path.join(folder, 'tsconfig.build.json')], {
  stdio: 'inherit',
})
// tsc keeps `./x.ts` in declarations. Deno and older compilers look for `./x.js`.
for (const file of globSync('types/**/*.d.ts', { cwd: dist })) {
  const declaration = path.join(dist, file)
  writeFileSync(declaration, readFileSync(declaration, 'utf8').replaceAll(/(from '\.{1,2}\/[^']*)\.ts'/g, "$1.js'"))
}
copyFileSync(path.join(root, 'LICENSE'), path.join(dist, 'LICENSE'))
