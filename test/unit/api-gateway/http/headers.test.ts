import t from 'tap'
import {
  hasTag,
  hasVersion,
  isLenient,
  parseHttpDate,
  preferredBody,
  recordTag,
  versionTag,
} from '../../../../api-gateway/src/http/headers.ts'
import { contentTypeOf, dispositionOf, parseRange } from '../../../../api-gateway/src/resources/files/file-headers.ts'

const seen = versionTag({ generation: 2, resourceVersion: '100' })
const counted = versionTag({ generation: 2, resourceVersion: '101' })
const changed = versionTag({ generation: 3, resourceVersion: '102' })

t.test('versionTag differs when anything has changed', async (t) => {
  t.equal(new Set([seen, counted, changed]).size, 3)
  t.equal(hasTag(seen, counted), false)
})

const cases: [header: string, tag: string, is: boolean][] = [
  [seen, seen, true],
  [seen, counted, true],
  [seen, changed, false],
  [`"x", ${seen}`, counted, true],
  ['*', changed, true],
  ['"x"', seen, false],
  [`W/${seen}`, seen, true],
  [`W/${seen}`, counted, true],
  [`W/${seen}`, changed, false],
  ['', seen, false],
]
for (const [header, tag, is] of cases) {
  t.test(`hasVersion takes ${header || 'nothing'} ${is ? '' : 'not '}for ${tag}`, async (t) => t.equal(hasVersion(header, tag), is))
}

t.test('parseHttpDate parses the three formats of HTTP dates', async (t) => {
  const expected = new Date('1994-11-06T08:49:37.000Z')
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    ' Sun Nov 06 08:49:37 1994',
  ])
    t.strictSame(parseHttpDate(text), expected, text)
})

t.test('parseHttpDate ignores other texts', async (t) => {
  const others = [
    '',
    '2026',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 +0100',
    'Sun, 06 Xyz 1994 08:49:37 GMT',
  ]
  for (const text of [...others, 'Sun, 06 Nov 1994 99:49:37 GMT', '"abc"', '*']) t.equal(parseHttpDate(text), undefined, text)
})

const accepts: [accept: string | undefined, type: string, body: ReturnType<typeof preferredBody>][] = [
  [undefined, 'image/png', 'record'],
  ['*/*', 'image/png', 'record'],
  ['application/json', 'application/pdf', 'record'],
  ['application/vnd.api+json', 'image/png', 'record'],
  ['application/*', 'image/png', 'record'],
  ['image/*', 'image/png', 'file'],
  ['image/*', 'application/pdf', 'file'],
  ['application/octet-stream', 'image/webp', 'file'],
  ['image/png', 'image/png', 'file'],
  ['application/pdf', 'application/pdf', 'file'],
  ['Application/PDF;q=0.9', 'application/pdf', 'file'],
  ['application/pdf, application/json;q=0.5', 'application/pdf', 'file'],
  ['application/pdf, */*, application/json;q=0', 'application/pdf', 'file'],
  ['image/png, */*;q=0.1', 'image/png', 'file'],
  ['application/pdf, */*;q=0.1', 'image/png', 'file'],
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'image/png', 'file'],
  ['application/json;q=0.5, image/*', 'image/png', 'file'],
  ['image/webp;q=0.8, application/json', 'image/webp', 'record'],
  ['application/pdf, application/json;q=0.5', 'image/png', 'record'],
  ['audio/mpeg, application/json;q=0.1', 'video/mp4', 'record'],
  ['image/*, image/png;q=0', 'image/png', undefined],
  ['image/*;q=0', 'image/png', undefined],
  ['image/*;q=x', 'image/png', undefined],
  ['application/pdf', 'image/png', undefined],
  ['image/png', 'application/pdf', undefined],
  ['video/mp4, video/webm', 'image/gif', undefined],
  ['text/html', 'image/png', undefined],
  ['*/*, application/json;q=0', 'image/png', 'file'],
]
t.test('preferredBody reads Accept headers', async (t) => {
  for (const [accept, type, body] of accepts) t.equal(preferredBody(accept, type), body, `${accept} for ${type}`)
})

const qualities: typeof accepts = [
  ['image/*;q=0.5, */*;q=0.9', 'image/png', 'record'],
  ['image/png;q=0.1, */*', 'image/png', 'record'],
  ['video/*;q=0.2, application/*;q=0.3', 'video/mp4', 'record'],
  ['image/webp, image/png;q=0.3, */*;q=0.5', 'image/png', 'record'],
  ['image/png;q=0.4, image/*, application/json;q=0.6', 'image/png', 'record'],
  ['*/*;q=0.1, application/json', 'image/png', 'record'],
  ['image/webp, image/png;q=0.3, */*;q=0.5', 'image/webp', 'file'],
  ['image/*;q=0.4, application/json;q=0.3, */*', 'image/png', 'file'],
  ['application/json;q=0.5, */*', 'image/png', 'file'],
  ['image/avif,image/webp,image/apng,image/*,*/*;q=0.8', 'image/png', 'file'],
  ['image/*, */*', 'image/png', 'file'],
  ['*/*;q=0', 'image/png', undefined],
]
t.test('a range that is less preferred than another is not chosen, and the most specific range counts', async (t) => {
  for (const [accept, type, body] of qualities) t.equal(preferredBody(accept, type), body, `${accept} for ${type}`)
})

const ranges: [string | undefined, ReturnType<typeof parseRange>][] = [
  [undefined, undefined],
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=10-19', { start: 10, end: 19 }],
  ['bytes=90-', { start: 90, end: 99 }],
  ['bytes=90-1000', { start: 90, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-1000', { start: 0, end: 99 }],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=20-10', undefined],
  ['bytes=-', undefined],
  ['bytes=0-1,2-3', undefined],
  ['items=0-1', undefined],
]
for (const [header, range] of ranges) t.test(`parseRange reads ${header}`, async (t) => t.strictSame(parseRange(header, 100), range))

t.test('parseRange finds nothing in an empty file', async (t) => t.equal(parseRange('bytes=0-', 0), 'unsatisfiable'))

t.test('recordTag moves with the version and with the link', async (t) => {
  const tags = [recordTag('7', undefined), recordTag('8', undefined), recordTag('8', 3600), recordTag('8', 7200)]
  t.equal(new Set(tags).size, 4)
  for (const tag of tags) t.match(tag, /^"[^"]+"$/)
})

const tags: [string | undefined, boolean][] = [
  [undefined, false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['*', true],
  ['"b"', false],
  ['a', false],
]
for (const [header, found] of tags) t.test(`hasTag reads ${header}`, async (t) => t.equal(hasTag(header, '"a"'), found))

const dispositions: [string, string, string | undefined, string][] = [
  ['scr_x.png', 'png', undefined, 'inline; filename="scr_x.png"'],
  ['scr_x.html', 'html', undefined, 'attachment; filename="scr_x.html"'],
  ['scr_x.png', 'png', 'my "shot".png', `attachment; filename="my _shot_.png"; filename*=UTF-8''my%20%22shot%22.png`],
  ['scr_x.png', 'png', 'a\r\nb.png', `attachment; filename="a__b.png"`],
  ['scr_x.png', 'png', 'bill\u202egnp.exe', 'attachment; filename="bill_gnp.exe"'],
  ['scr_x.png', 'png', "it's (1)*.png", `attachment; filename="it's (1)*.png"`],
]
for (const [name, extension, attachment, header] of dispositions) {
  t.test(`dispositionOf ${JSON.stringify(attachment ?? name)}`, async (t) => t.equal(dispositionOf(name, extension, attachment), header))
}

t.test('contentTypeOf knows what is captured by the end of its extension, and trusts nothing else', async (t) => {
  const types = ['png', 'jpeg', 'webp', 'avif', 'pdf', 'thumb.png', 'svg', 'exe', 'constructor'].map(contentTypeOf)
  const other = 'application/octet-stream'
  t.strictSame(types, ['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'application/pdf', 'image/png', other, other, other])
})

const preferences: [string | string[] | undefined, boolean][] = [
  [undefined, false],
  ['handling=lenient', true],
  ['respond-async, handling = "lenient"; x=1', true],
  [['wait=5', 'HANDLING=LENIENT'], true],
  ['handling=strict', false],
  ['handling=lenients', false],
]
for (const [header, lenient] of preferences) t.test(`isLenient reads ${header}`, async (t) => t.equal(isLenient(header), lenient))
