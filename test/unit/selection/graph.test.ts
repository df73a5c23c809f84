import t from 'tap'
import { buildGraph } from '../../selection/graph.ts'
import { toSource } from '../../support/sources/source-files.ts'

const FILES = [
  'crds/src/text/join.ts',
  'charts/tintype/crds/a.yaml',
  'charts/tintype/crds/b.yaml',
  'docs/api.md',
  'operator/src/main.ts',
  'test/integration/stage/stage.ts',
  'test/integration/stage/program.ts',
  'test/integration/stage/fixtures/a.json',
  'test/integration/stage/fixtures/deep/b.json',
  'README.md',
]

/** What a file in test/integration/stage needs. */
function needs(text: string): string[] {
  const file = 'test/integration/stage/stage.ts'
  const graph = buildGraph([toSource(file, text)], FILES)
  return [...graph].filter(([, dependents]) => dependents.has(file)).map(([needed]) => needed)
}

t.test('buildGraph follows imports, dynamic imports and package exports', async (t) => {
  t.strictSame(needs("import { a } from './program.ts'"), ['test/integration/stage/program.ts'])
  t.strictSame(needs("const a = await import('./program.ts')"), ['test/integration/stage/program.ts'])
  t.strictSame(needs("export { join } from '@tintype/crds/text/join'"), ['crds/src/text/join.ts'])
  t.strictSame(needs("import data from './fixtures/a.json' with { type: 'json' }"), ['test/integration/stage/fixtures/a.json'])
})

t.test('buildGraph leaves out types, which load nothing, and comments', async (t) => {
  t.strictSame(needs("import type { A } from './program.ts'\nimport { type B } from '@tintype/crds/text/join'\n// see docs/api.md"), [])
  t.strictSame(needs("type A = typeof import('./program.ts')"), [])
})

t.test('buildGraph finds the programs and fixtures that code names', async (t) => {
  t.strictSame(needs("spawn(process.execPath, [path.join(import.meta.dirname, 'program.ts')])"), ['test/integration/stage/program.ts'])
  t.strictSame(needs("new URL('../../../operator/src/main.ts', import.meta.url)"), ['operator/src/main.ts'])
  t.strictSame(needs("readFileSync(path.join(repository, 'docs/api.md'))"), ['docs/api.md'])
  t.strictSame(needs("path.join(repository, 'docs')"), ['docs/api.md'])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the code of a file
  t.strictSame(needs('readFileSync(`${repository}/README.md`)'), ['README.md'])
})

t.test('buildGraph resolves folders and globs to their files', async (t) => {
  t.strictSame(needs("readdirSync(path.join(import.meta.dirname, '../../../charts/tintype/crds'))"), [
    'charts/tintype/crds/a.yaml',
    'charts/tintype/crds/b.yaml',
  ])
  t.strictSame(needs("globSync('charts/tintype/crds/*.yaml')"), ['charts/tintype/crds/a.yaml', 'charts/tintype/crds/b.yaml'])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the code of a file
  t.strictSame(needs('read(`charts/tintype/crds/${name}.yaml`)'), ['charts/tintype/crds/a.yaml', 'charts/tintype/crds/b.yaml'])
  t.strictSame(needs("path.join(import.meta.dirname, 'fixtures')"), [
    'test/integration/stage/fixtures/a.json',
    'test/integration/stage/fixtures/deep/b.json',
  ])
})

t.test('buildGraph follows a glob over folders, which looks like a comment', async (t) => {
  t.strictSame(needs("const a = 1 /* see docs/api.md */\nglobSync(['crds/{src,generated}/**/*.ts', 'operator/**/*.ts'])"), [
    'crds/src/text/join.ts',
    'operator/src/main.ts',
  ])
})

t.test('buildGraph takes a media range, a schedule and the folder of the file itself for no path', async (t) => {
  t.strictSame(needs("fetch(url, { headers: { accept: '*/*, image/*' }, cron: '*/5 * * * *', root: '../../..' })"), [])
  t.strictSame(needs("path.join(import.meta.dirname, '../stage')"), [])
})
