import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { BLOCK, compareHashes, hashPicture, keepStillBlocks } from '../../gallery/corpus/compare.ts'
import { buildDocument } from '../../gallery/corpus/page.ts'
import { pages } from '../../gallery/corpus/pages.ts'
import { readReferences } from '../../gallery/corpus/references.ts'
import { assertEvery } from '../../support/accepts.ts'

// A run of the corpus shows pages that do not load. It does not show a comparison that finds nothing, or a page that needs the internet.

const packages = join(import.meta.dirname, '../../gallery/corpus/packages')

t.test('every package that a page loads is pinned in package.json', async (t) => {
  const { dependencies } = JSON.parse(readFileSync(join(packages, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  const packageOf = (file: string): string => /^(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? ''
  const known = new Set([...Object.keys(dependencies), 'lit-html', 'lit-element', '@lit/reactive-element'])
  const filesOf = (page: (typeof pages)[number]): string[] => {
    if ('file' in page) return page.file.startsWith('npm/') ? [page.file.slice('npm/'.length)] : []
    return [...(page.load ?? []), ...Object.values(page.imports ?? {})]
  }
  const missing = pages.flatMap((page) => filesOf(page).flatMap((file) => (known.has(packageOf(file)) ? [] : `${page.name} loads ${file}`)))
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

t.test('every reference belongs to a page of the corpus', async (t) => {
  const references = Object.entries(await readReferences())
  t.ok(references.length >= 120, `${references.length} pages have references`)
  assertEvery(t, references, ([name]) => pages.some((page) => page.name === name))
  for (const [name, modes] of references) {
    for (const { approved, rows } of Object.values(modes)) {
      t.match(approved, /^\d{4}-\d\d-\d\d$/, name)
      assertEvery(t, rows, (row) => /^[\w.-]+$/.test(row), name)
    }
  }
})

const [WIDTH, HEIGHT] = [BLOCK.width * 4, BLOCK.height * 5]
const page = (content: string, height = HEIGHT): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}"><rect width="100%" height="100%" fill="#fff"/>${content}</svg>`,
  )
const lines = (count: number): string =>
  Array.from({ length: count }, (_, n) => `<rect x="40" y="${20 + n * 30}" width="${500 + (n % 5) * 60}" height="12" fill="#234"/>`).join(
    '',
  )
const photo = (y: number, opacity = 1): string => `<circle cx="700" cy="${y}" r="80" fill="#2a9d8f" opacity="${opacity}"/>`
const compare = async (reference: string, picture: string, height = HEIGHT) =>
  compareHashes(await hashPicture(page(reference)), await hashPicture(page(picture, height)))

t.test('a picture does not differ from itself or from its JPEG', async (t) => {
  const picture = page(lines(20) + photo(300))
  const reference = await hashPicture(picture)
  t.strictSame([reference.width, reference.height, reference.rows.length], [WIDTH, HEIGHT, 5])
  for (const same of [picture, await sharp(picture).jpeg({ quality: 95 }).toBuffer()])
    t.equal(compareHashes(reference, await hashPicture(same)).changed, 0)
})

t.test('each fault of a picture is found, and only in its own blocks', async (t) => {
  const { changed, blocks, places } = await compare(lines(30) + photo(900), lines(30))
  t.equal(blocks, 20)
  t.ok(changed > 0 && changed <= 6, `${changed} blocks`)
  assertEvery(t, places, ({ top }) => top >= 3 * BLOCK.height, 'no block above the missing section differs')
  t.ok((await compare(lines(4), lines(3))).changed > 0, 'one missing line')
  t.ok((await compare(photo(300), photo(300, 0.6))).changed > 0, 'a section that is half faded in')
  t.equal((await compare('', '<rect width="100%" height="100%" fill="#264653"/>')).changed, 20, 'a blank page')
  t.equal((await compare(lines(30), lines(14), 2 * BLOCK.height)).changed, 3 * 4, 'missing rows')
  t.ok((await compare(lines(30), lines(30), HEIGHT - 10)).changed > 0, 'ten missing pixels')
})

t.test('blocks that differ between two pictures of a moving page are left out of its reference', async (t) => {
  const hashAt = (y: number) => hashPicture(page(lines(30) + photo(y)))
  const reference = keepStillBlocks(await hashAt(300), await hashAt(400))
  const { changed, blocks } = compareHashes(reference, await hashAt(350))
  t.equal(changed, 0)
  t.ok(blocks < 20, `${blocks} blocks hold still`)
  t.ok(compareHashes(reference, await hashPicture(page(photo(350)))).changed > 0, 'missing text is still detected')
})
