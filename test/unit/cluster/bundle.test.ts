import { access, readFile } from 'node:fs/promises'
import type { Metafile } from 'esbuild'
import t from 'tap'
import { externalsOf, packageNameOf, packagesOf, served } from '../../cluster/images/bundle.ts'

const aMetafile = (inputs: string[], imports: string[]): Metafile =>
  ({
    inputs: Object.fromEntries(inputs.map((file) => [file, { bytes: 1, imports: [] }])),
    outputs: {
      'main.mjs': {
        bytes: 1,
        inputs: {},
        exports: [],
        imports: imports.map((path) => ({ path, kind: 'import-statement', external: true })),
      },
    },
  }) as Metafile

const names: [string, string][] = [
  ['sharp', 'sharp'],
  ['playwright-core/lib/server', 'playwright-core'],
  ['@img/sharp-linux-x64/lib/x.node', '@img/sharp-linux-x64'],
]
for (const [specifier, name] of names) {
  t.test(`packageNameOf finds ${name} in ${specifier}`, async (t) => t.equal(packageNameOf(specifier), name))
}

t.test('externalsOf lists each package to copy once, without builtins and excluded packages', async (t) => {
  const imports = ['node:fs', 'fs', 'zod', 'sharp', 'playwright-core', 'playwright-core/lib/x', '@kubernetes/client-node']
  t.strictSame(externalsOf(aMetafile([], imports)), ['playwright-core', 'sharp'])
})

t.test('packagesOf lists the directory of each bundled package, including nested ones', async (t) => {
  const inputs = [
    'operator/src/main.ts',
    'node_modules/zod/v4/index.js',
    'node_modules/zod/v4/core.js',
    'node_modules/@fastify/error/index.js',
    'node_modules/minio/node_modules/xml2js/lib/x.js',
  ]
  t.strictSame(packagesOf(aMetafile(inputs, [])), [
    'node_modules/@fastify/error',
    'node_modules/minio/node_modules/xml2js',
    'node_modules/zod',
  ])
})

t.test('bundleProgram finds all files of packages to copy', async (t) => {
  for (const [name, files] of Object.values(served).flatMap(Object.entries)) {
    for (const file of files) await t.resolves(access(new URL(`../../../node_modules/${name}/${file}`, import.meta.url)), `${name}/${file}`)
  }
})

t.test('bundleProgram copies the files that a program serves to the path of their package', async (t) => {
  const source = await readFile(new URL('../../../api-gateway/src/reference/docs-routes.ts', import.meta.url), 'utf8')
  const wanted = [...source.matchAll(/fromPackage\('([^']+)'/g)].map(([, file]) => file)
  t.ok(wanted.length >= 2)
  const copied = served['api-gateway']?.['swagger-ui-dist'] ?? []
  t.strictSame(
    wanted.filter((file) => !copied.includes(file!)),
    [],
  )
})
