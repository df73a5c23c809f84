import t from 'tap'
import { DEFAULT_OPTION_POLICY, findForbidden, OptionPolicyText, toForbiddenMessage } from '../../../../crds/src/options/policy.ts'

t.test('OptionPolicyText allows everything except the caller’s own bucket by default', async (t) => {
  t.strictSame(OptionPolicyText.parse(undefined), DEFAULT_OPTION_POLICY)
  t.strictSame(OptionPolicyText.parse('{"proxy":false}'), { ...DEFAULT_OPTION_POLICY, proxy: false })
  const { storage, ...others } = DEFAULT_OPTION_POLICY
  t.ok(Object.values(others).every(Boolean))
  t.notOk(storage)
  t.strictSame(findForbidden({ storageBucket: 'a', storageSecretAccessKey: 'b' }, DEFAULT_OPTION_POLICY), [
    'storageBucket',
    'storageSecretAccessKey',
  ])
})

t.test('OptionPolicyText refuses invalid policies', async (t) => {
  for (const text of ['x', '{"proxies":false}', '{"proxy":"no"}', '[]']) t.notOk(OptionPolicyText.safeParse(text).success, text)
})

t.test('findForbidden returns options that are set but disabled', async (t) => {
  const policy = { ...DEFAULT_OPTION_POLICY, proxy: false, bypassCsp: false }
  t.strictSame(findForbidden({ proxy: 'http://a', proxyUsername: 'b', bypassCsp: true, scripts: '1' }, policy), [
    'proxy',
    'proxyUsername',
    'bypassCsp',
  ])
  t.strictSame(findForbidden({ bypassCsp: false, scripts: '1' }, policy), [])
  t.strictSame(findForbidden({ proxy: 'http://a', ignoreHttpsErrors: true }, DEFAULT_OPTION_POLICY), [])
  t.strictSame(findForbidden({ scripts: '1', waitForFunction: '1' }, { ...DEFAULT_OPTION_POLICY, scripts: false }), [
    'scripts',
    'waitForFunction',
  ])
})

t.test('toForbiddenMessage spells options in snake case', async (t) => {
  t.equal(toForbiddenMessage(['bypassCsp']), 'this service does not allow bypass_csp. Leave it out, or ask an administrator to allow it')
  t.match(toForbiddenMessage(['proxy', 'initScript']), /proxy, init_script\. Leave them out/)
})
