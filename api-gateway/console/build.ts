// Builds the web console: a page, and scripts and styles whose names contain a hash of their content, each also compressed with gzip and brotli.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'

const folder = import.meta.dirname
const repository = path.join(folder, '../..')

/** zod has error messages in fifty languages. The console needs only English. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: "export { default as en } from './en.js'" }))
  },
}

const compress = (bytes: Buffer): Record<string, Buffer> => ({
  '.gz': gzipSync(bytes, { level: 9 }),
  '.br': brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
})

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
    splitting: true, // each page loads when it is opened first
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [englishOnly],
    metafile: true,
    legalComments: 'none', // the notices of the image have the complete texts
    logLevel: 'warning',
  })
  const names = await readdir(assets)
  const nameOf = (ending: string): string => names.find((name) => /^console-/.test(name) && name.endsWith(ending)) ?? ''
  const page = await readFile(path.join(folder, 'src/index.html'), 'utf8')
  const filled = page.replaceAll('STYLE_FILE', nameOf('.css')).replaceAll('SCRIPT_FILE', nameOf('.js'))
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
