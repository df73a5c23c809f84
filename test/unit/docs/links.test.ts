import { existsSync, globSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { pageNames } from '../../sites/src/server.ts'
import { assertEvery } from '../../support/accepts.ts'
import { readText } from '../../support/sources/code-blocks.ts'

// Links between the documents of the repository lead to existing files and headings.

const root = path.join(import.meta.dirname, '../../..')
const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'charts/tintype/README.md', '.github/pull_request_template.md'],
  ...globSync('{docs,docs/adr,docs/examples,test/*}/*.md', { cwd: root }),
]

/** The text without its code. */
const withoutCode = (markdown: string): string => markdown.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/`[^`\n]*`/g, '')

/** The anchors that GitHub derives from a page's headings. */
const anchorsOf = (markdown: string): Set<string> =>
  new Set(
    [...markdown.replaceAll(/^ *```.*?^ *```$/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

/** Broken links of a page. */
function findBroken(page: string, markdown: string): string[] {
  const targets = [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    // GitHub shows the runs of a workflow beside the files of the repository.
    const [, workflow] = /^\.\.\/\.\.\/actions\/workflows\/([\w.-]+)/.exec(target) ?? []
    if (workflow !== undefined) return !existsSync(path.join(root, '.github/workflows', workflow))
    const [file = '', anchor] = target.split('#')
    const found = file === '' ? page : path.join(path.dirname(page), file)
    if (!existsSync(path.join(root, found))) return true
    return anchor !== undefined && !anchorsOf(readText(found)).has(anchor)
  })
}

t.test('the check of links finds missing files and headings', async (t) => {
  t.strictSame(findBroken('docs/api.md', '[a](api.md) [b](nothing.md) [c](api.md#files) [d](api.md#nothing) [e](https://example.com)'), [
    'nothing.md',
    'api.md#nothing',
  ])
  const badge = (name: string) => `[![a](../../actions/workflows/${name}/badge.svg)](../../actions/workflows/${name})`
  t.strictSame(findBroken('README.md', badge('ci.yaml')), [])
  t.equal(findBroken('README.md', badge('nothing.yaml')).length, 2)
})

for (const page of pages)
  t.test(`${page} links to nothing that is missing`, async (t) => t.strictSame(findBroken(page, readText(page)), []))

t.test('docs/README.md lists every page of docs', async (t) => {
  const index = readText('docs/README.md')
  const files = globSync('docs/*.md', { cwd: root }).map((file) => path.basename(file))
  assertEvery(t, files, (file) => file === 'README.md' || index.includes(`(${file})`))
})

t.test('test/sites/README.md lists exactly the pages that tests can capture', async (t) => {
  const listed = [...readText('test/sites/README.md').matchAll(/`\/([a-z][A-Za-z0-9.-]*)/g)].map(([, name]) => name)
  const internal = ['csp.css', 'healthz']
  t.strictSame([...new Set([...listed, ...internal])].sort(), [...pageNames, 'en-US'].sort())
})
