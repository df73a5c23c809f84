// Bundles the page functions. Each becomes the source of one function with everything that it needs, so that a call sends no more than that.

import path from 'node:path'
import { build } from 'esbuild'

const directory = path.join(import.meta.dirname, 'src')
const shared = { bundle: true, write: false, format: 'esm', platform: 'neutral', target: 'es2025', charset: 'utf8' } as const

/** The sources by the names of the functions, in the order of the names. Each source is an expression. */
export async function bundlePageFunctions(): Promise<Record<string, string>> {
  const { metafile } = await build({ ...shared, entryPoints: [path.join(directory, 'index.ts')], outdir: 'out', metafile: true })
  const names = Object.values(metafile.outputs).flatMap((output) => output.exports)
  const sources = await Promise.all(names.sort().map(async (name) => [name, await bundleOne(name)] as const))
  return Object.fromEntries(sources)
}

async function bundleOne(name: string): Promise<string> {
  const { outputFiles } = await build({
    ...shared,
    stdin: { contents: `export { ${name} as default } from './index.ts'`, resolveDir: directory },
    minify: true,
    legalComments: 'none',
  })
  const code = outputFiles[0]?.text.trim() ?? ''
  const [statement, exported] = /export\{([\w$]+) as default\};?$/.exec(code) ?? []
  if (statement === undefined) throw new Error(`the bundle of ${name} has no export`)
  return `(()=>{${code.slice(0, -statement.length)}return ${exported}})()`
}
