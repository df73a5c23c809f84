// Bundles the page functions. Each becomes the source of one function with everything that it needs, so that a call sends no more than that.

import path from 'node:path'
import { build, type Metafile } from 'esbuild'

const directory = path.join(import.meta.dirname, 'src')
const shared = { bundle: true, write: false, format: 'esm', platform: 'neutral', target: 'es2025', charset: 'utf8' } as const

/** A file of page functions: those without libraries, or those with some. */
export type PageModule = 'index' | 'large'

/** The files and packages that are in the functions, with paths in `from`. */
export async function analyzePageModule(module: PageModule, from: string): Promise<Metafile> {
  const entryPoints = [path.join(directory, `${module}.ts`)]
  const { metafile } = await build({ ...shared, absWorkingDir: from, entryPoints, outdir: 'out', mainFields: ['main'], metafile: true })
  return metafile
}

/** The sources by the names of the functions, in the order of the names. Each source is an expression. */
export async function bundlePageFunctions(module: PageModule): Promise<Record<string, string>> {
  const metafile = await analyzePageModule(module, directory)
  const names = Object.values(metafile.outputs).flatMap((output) => output.exports)
  const sources = await Promise.all(names.sort().map(async (name) => [name, await bundleOne(module, name)] as const))
  return Object.fromEntries(sources)
}

async function bundleOne(module: PageModule, name: string): Promise<string> {
  const { outputFiles } = await build({
    ...shared,
    stdin: { contents: `export { ${name} as default } from './${module}.ts'`, resolveDir: directory },
    mainFields: ['main'],
    minify: true,
    legalComments: 'none',
  })
  const code = outputFiles[0]?.text.trim() ?? ''
  const [statement, exported] = /export\{([\w$]+) as default\};?$/.exec(code) ?? []
  if (statement === undefined) throw new Error(`the bundle of ${name} has no export`)
  return `(()=>{${code.slice(0, -statement.length)}return ${exported}})()`
}
