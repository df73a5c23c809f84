import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildDocument, pathOf } from '../../../gallery/corpus/page.ts'
import { pages } from '../../../gallery/corpus/pages.ts'
import { readReferences } from '../../../gallery/corpus/references.ts'
import { rewritePublicUrls } from '../../../gallery/corpus/site.ts'

const packages = join(import.meta.dirname, '../../../gallery/corpus/packages')
const { dependencies } = JSON.parse(readFileSync(join(packages, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
const names = pages.map(({ name }) => name)

t.test('every package that a page loads is pinned in package.json', async (t) => {
  const packageOf = (file: string): string => /^(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? ''
  const TRANSITIVE = new Set(['lit-html', 'lit-element', '@lit/reactive-element'])
  const missing = pages.flatMap((page) => {
    const files =
      'file' in page
        ? page.file.startsWith('npm/')
          ? [page.file.slice('npm/'.length)]
          : []
        : [...(page.styles ?? []), ...(page.scripts ?? []), ...Object.values(page.imports ?? {})]
    const unknown = files.map(packageOf).filter((file) => !(file in dependencies) && !TRANSITIVE.has(file))
    return unknown.map((file) => `${page.name} loads ${file}`)
  })
  t.strictSame(missing, [])
  const loose = Object.entries(dependencies).filter(([, version]) => !/^(npm:[^@]+@)?\d/.test(version))
  const requirements = readFileSync(join(packages, 'requirements.txt'), 'utf8').split('\n').filter(Boolean)
  t.strictSame([...loose, ...requirements.filter((line) => !/^[\w.-]+==[\w.]+$/.test(line))], [])
})

t.test('generated pages name no host', async (t) => {
  const hosts = pages.flatMap((page) => {
    const [reference] = ('body' in page && /\b(src|href|url)\s*[=(:]\s*['"]?https?:.{0,40}/.exec(buildDocument(page))) || []
    return reference === undefined ? [] : [`${page.name}: ${reference}`]
  })
  t.strictSame(hosts, [])
})

t.test('a page is in the root directory or in the cache', async (t) => {
  t.equal(pathOf({ name: 'a', kind: 'template', file: 'npm/a/dist/b/c.html', root: 'npm/a/dist' }), '/b/c.html')
  t.equal(pathOf({ name: 'a', kind: 'template', file: 'npm/a/c.html' }), '/npm/a/c.html')
  t.equal(pathOf({ name: 'a', kind: 'chart', body: '' }), '/page/a')
})

t.test('URLs of public package hosts are served from the packages of the corpus', async (t) => {
  t.equal(
    rewritePublicUrls('<script src="https://cdn.example/npm/bootstrap@5.2.3/dist/js/b.js">'),
    '<script src="/npm/bootstrap/dist/js/b.js">',
  )
  t.equal(rewritePublicUrls('"https://cdn.example/npm/@scope/name@1.0.0-rc.1/a.css"'), '"/npm/@scope/name/a.css"')
  t.equal(rewritePublicUrls('"https://icons.example/releases/v6.3.0/js/all.js"'), '"/npm/@fortawesome/fontawesome-free/js/all.js"')
  t.equal(rewritePublicUrls('<a href="https://example.com/about">'), '<a href="https://example.com/about">')
})

t.test('every reference belongs to a page of the corpus', async (t) => {
  const references = Object.entries(await readReferences())
  t.ok(references.length >= 120, `${references.length} pages have references`)
  const unknown = references.map(([name]) => name).filter((name) => !names.includes(name))
  t.strictSame(unknown, [])
  const malformed = references.flatMap(([name, modes]) =>
    Object.entries(modes)
      .filter(([, { approved, rows }]) => !/^\d{4}-\d\d-\d\d$/.test(approved) || !rows.every((row) => /^[\w.-]+$/.test(row)))
      .map(([mode]) => `${name} ${mode}`),
  )
  t.strictSame(malformed, [])
})
