// Builds the web console: a page, and scripts and styles whose names contain a hash of their content, each also compressed with gzip and brotli.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { catalog } from './src/form/catalog.ts'

const folder = import.meta.dirname
const repository = path.join(folder, '../..')

/** zod has error messages in fifty languages. The console needs only English. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: "export { default as en } from './en.js'" }))
  },
}

/** Replaces the catalog of options by its data, which a browser shows without evaluating the schemas. */
const catalogAsData: Plugin = {
  name: 'catalog-as-data',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/console\/src\/form\/catalog\.ts$/ }, () => ({
      contents: `export const catalog = JSON.parse(${JSON.stringify(JSON.stringify(catalog))})`,
    }))
  },
}

const compress = (bytes: Buffer): Record<string, Buffer> => ({
  '.gz': gzipSync(bytes, { level: 9 }),
  '.br': brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
})

/** Names of the scripts that the first script imports, also through others. The page names them, so that they load at the same time. */
function importsOfEntry({ outputs }: Metafile): string[] {
  const found = new Set<string>()
  const visit = (file: string | undefined): void => {
    for (const { kind, path: imported } of outputs[file ?? '']?.imports ?? []) {
      if (kind !== 'import-statement' || found.has(imported)) continue
      found.add(imported)
      visit(imported)
    }
  }
  visit(Object.keys(outputs).find((file) => outputs[file]?.entryPoint?.endsWith('main.tsx')))
  return [...found].map((file) => path.basename(file))
}

/** Replaces `directory` by the built console. Resolves to what esbuild used, for the notices of licenses. */
export async function buildConsole(directory: string): Promise<Metafile> {
  await rm(directory, { recursive: true, force: true })
  const assets = path.join(directory, 'assets')
  await mkdir(assets, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: repository,
    entryPoints: [{ in: path.join(folder, 'src/main.tsx'), out: 'console' }],
    outdir: assets,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true, // the checks of the form and the code of cron expressions load when they are needed first
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [englishOnly, catalogAsData],
    metafile: true,
    legalComments: 'none', // the notices of the image have the complete texts
    logLevel: 'warning',
  })
  const names = await readdir(assets)
  const preloads = importsOfEntry(metafile).map((name) => `<link rel="modulepreload" href="console/assets/${name}">`)
  const nameOf = (ending: string): string => names.find((name) => /^console-/.test(name) && name.endsWith(ending)) ?? ''
  const page = await readFile(path.join(folder, 'src/index.html'), 'utf8')
  const filled = page
    .replaceAll('STYLE_FILE', nameOf('.css'))
    .replaceAll('SCRIPT_FILE', nameOf('.js'))
    .replace('PRELOADS', preloads.join('\n'))
  await writeFile(path.join(directory, 'index.html'), filled)
  for (const name of names) {
    const forms = compress(await readFile(path.join(assets, name)))
    for (const [ending, bytes] of Object.entries(forms)) await writeFile(path.join(assets, name + ending), bytes)
  }
  return metafile
}

if (import.meta.main) {
  const directory = path.resolve(process.argv[2] ?? path.join(folder, 'dist'))
  await buildConsole(directory)
  console.log(directory)
}
