import t from 'tap'
import { isAllowedHost } from '../../../../crds/src/addresses/address-rules.ts'
import { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { toAsciiForm } from '../../../../crds/src/text/ascii-form.ts'

const forms: [text: string, ascii: string | undefined][] = [
  ['straße.example', 'xn--strae-oqa.example'],
  ['*.köln.example', '*.xn--kln-sna.example'],
  ['日本語.Example:8080', 'xn--wgv71a119e.Example:8080'],
  ['*://İzmir.example/*', '*://xn--izmir-7fd.example/*'],
  ['https://пример.example/путь?q=ё#é', 'https://xn--e1afmkfd.example/%D0%BF%D1%83%D1%82%D1%8C?q=%D1%91#%C3%A9'],
  ['*/naïve/*.png', '*/na%C3%AFve/*.png'],
  ['plain.example/%C3%A9?a=*', 'plain.example/%C3%A9?a=*'],
  ['[::1]:80', '[::1]:80'],
  ['', ''],
  ['caf*é.example', undefined],
  ['a\u3000b.example', undefined],
  ['é://a.example', undefined],
]
t.test('toAsciiForm writes host names in Punycode and other letters as browsers send them', async (t) => {
  for (const [text, ascii] of forms) t.equal(toAsciiForm(text), ascii, text)
})

t.test('an international pattern of allowedHosts matches the name that browsers send', async (t) => {
  const allowedHosts = ['straße.example', '*.Köln.example', '*.日本語.example']
  for (const host of ['xn--strae-oqa.example', 'shop.xn--kln-sna.example', 'a.b.xn--wgv71a119e.example.']) {
    t.ok(isAllowedHost(host, { allowedHosts }), host)
  }
  for (const host of ['strasse.example', 'xn--kln-sna.example', 'xn--wgv71a119e.example', 'koln.example']) {
    t.notOk(isAllowedHost(host, { allowedHosts }), host)
  }
})

const messageOf = (options: object): string | undefined => CaptureOptions.safeParse(options).error?.issues[0]?.message

t.test('options with international host names are refused with the form that browsers send', async (t) => {
  const refused: [options: object, form: string][] = [
    [{ blockRequests: ['*://*.straße.example/*'] }, '*://*.xn--strae-oqa.example/*'],
    [{ allowRequests: ['*/größe/*'] }, '*/gr%C3%B6%C3%9Fe/*'],
    [{ failIfRequestFailed: ['köln.example'] }, 'xn--kln-sna.example'],
    [{ proxyBypass: ['*.köln.example'] }, '*.xn--kln-sna.example'],
    [{ proxy: 'http://köln.example:3128' }, 'http://xn--kln-sna.example:3128'],
    [{ htmlBaseUrl: 'https://köln.example/é' }, 'https://xn--kln-sna.example/%C3%A9'],
    [{ referer: 'https://日本語.example/' }, 'https://xn--wgv71a119e.example/'],
  ]
  for (const [options, form] of refused) t.equal(messageOf(options), `must be written as browsers send it: ${form}`)
  for (const [options, form] of refused) {
    const [[name, value]] = Object.entries(options) as [[string, unknown]]
    t.equal(messageOf({ [name]: Array.isArray(value) ? [form] : form }), undefined, form)
  }
  for (const address of ['HTTPS://X.TEST', 'ftp://x.test/', 'x.test'])
    t.match(messageOf({ referer: address }), /^must be a URL that begins with http:\/\/ or https:\/\/, in small letters/, address)
  t.equal(messageOf({ blockRequests: ['a b'] }), 'must be printable ASCII without spaces')
  t.equal(messageOf({ blockRequests: ['*é*.example'] }), 'must be printable ASCII without spaces')
})
