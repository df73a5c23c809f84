import t from 'tap'
import { assertOptionsAllowed } from '../../../../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { DEFAULT_OPTION_POLICY } from '../../../../../../crds/src/options/policy.ts'

const policy = { ...DEFAULT_OPTION_POLICY, proxy: false, scripts: false }

t.test('assertOptionsAllowed lets pass what is not switched off', async (t) => {
  t.doesNotThrow(() => assertOptionsAllowed({}, policy))
  t.doesNotThrow(() => assertOptionsAllowed({ options: { bypassCsp: true, delay: 1 } }, policy))
  t.doesNotThrow(() => assertOptionsAllowed({ options: { scripts: '1' } }, DEFAULT_OPTION_POLICY))
})

t.test('assertOptionsAllowed names every option that is switched off, private ones too', async (t) => {
  const request = { options: { scripts: '1', proxy: 'http://a' }, privateOptions: { proxyUsername: 'b' } }
  t.throws(() => assertOptionsAllowed(request, policy), {
    code: 'OPTION_NOT_ALLOWED',
    message: /proxy, proxy_username, scripts/,
    details: [
      { path: 'options.proxy', code: 'not_allowed' },
      { path: 'options.proxy_username', code: 'not_allowed' },
      { path: 'options.scripts', code: 'not_allowed' },
    ],
  })
})
