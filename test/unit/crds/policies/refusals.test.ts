import t from 'tap'
import { exampleOf, optionsByName } from '../../../../crds/src/options/groups.ts'
import {
  findRefusedOptions,
  findRefusedUrl,
  toCaptureLimits,
  toLinkLimits,
  toRecordOptions,
} from '../../../../crds/src/policies/refusals.ts'

const KEY = 'key_1'
const namesRefusedBy = (options: Record<string, unknown>, policy: Parameters<typeof toCaptureLimits>[1]) =>
  findRefusedOptions(options, toCaptureLimits(KEY, policy)).map(({ name }) => name)

t.test(
  'a capture policy with hosts refuses everything that can show anything under their names, unless it has allowOwnContent',
  async (t) => {
    const all = Object.fromEntries([...optionsByName.keys()].map((name) => [name, exampleOf(name)]))
    const expected = [
      ...['html', 'markdown', 'styles', 'style_urls', 'pdf_header_template', 'pdf_footer_template'],
      ...['scripts', 'script_urls', 'init_script', 'wait_for_function', 'proxy', 'proxy_bypass', 'proxy_username', 'proxy_password'],
      'ignore_https_errors',
    ]
    for (const policy of [{ allowedHosts: ['example.com'] }, { allowOwnContent: false }])
      t.strictSame(namesRefusedBy(all, policy).sort(), expected.sort())
    for (const policy of [{}, { allowedRequestHosts: [] }, { allowedHosts: [], allowOwnContent: true }])
      t.strictSame(namesRefusedBy(all, policy), [])
  },
)

t.test('a capture policy refuses options that it does not list, and false adds no content', async (t) => {
  const options = { format: 'webp', fullPage: true, delay: undefined, ...toRecordOptions({ downloadUrlTtlSeconds: 60 }) }
  t.strictSame(namesRefusedBy(options, { allowedOptions: ['format'] }), ['full_page', 'download_url_ttl'])
  t.strictSame(namesRefusedBy(options, { allowedOptions: ['format', 'fullPage', 'downloadUrlTtl'] }), [])
  t.strictSame(namesRefusedBy({ ignoreHttpsErrors: false }, { allowedHosts: [] }), [])
  t.strictSame(namesRefusedBy({ ignoreHttpsErrors: false }, { allowedOptions: [] }), ['ignore_https_errors'])
})

t.test('a link policy refuses only own markup as content, and messages name it', async (t) => {
  const limits = toLinkLimits({ allowedHosts: ['example.com'] })
  const refused = findRefusedOptions({ html: '<p>', scripts: 'a()' }, limits)
  t.strictSame(
    refused.map(({ name }) => name),
    ['html'],
  )
  t.match(refused[0]?.message, /^the link policy of the key .* set allow_own_markup of link_policy$/)
  t.match(findRefusedUrl('https://other.example/', limits), /add it to allowed_hosts of link_policy$/)
  t.match(findRefusedUrl('not a url', limits), /does not allow the host {2}of the url/)
  t.equal(findRefusedUrl('https://other.example/', toLinkLimits()), undefined)
})

t.test('messages name the key, the host, and the field to change', async (t) => {
  const limits = toCaptureLimits(KEY, { allowedHosts: ['example.com'], allowedOptions: ['html'] })
  t.equal(
    findRefusedUrl('https://a.example:8443/b', limits, 'final url'),
    'the capture policy of key_1 does not allow the host a.example:8443 of the final url. Use another one, or add it to allowed_hosts of capture_policy',
  )
  t.equal(findRefusedUrl('https://example.com/', limits), undefined)
  t.equal(findRefusedUrl('about:html', limits), undefined, 'the check of the options decides about own markup')
  const [own, other] = findRefusedOptions({ html: '<p>', delay: 1 }, limits)
  t.match(own?.message, /^the capture policy of key_1 does not allow html, which .* set allow_own_content of capture_policy$/)
  t.match(other?.message, /add it to allowed_options of capture_policy$/)
})
