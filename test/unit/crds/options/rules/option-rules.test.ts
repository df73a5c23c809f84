import t from 'tap'
import { z } from 'zod'
import { captureDefaults } from '../../../../../crds/src/options/catalog.ts'
import { type OptionGroup, optionsByName } from '../../../../../crds/src/options/groups.ts'
import { isRefusedInLinks, option } from '../../../../../crds/src/options/rules/option-rules.ts'

const named = (rule: 'links' | 'picture', value: unknown): string[] =>
  [...optionsByName].filter(([, { rules }]) => rules[rule] === value).map(([name]) => name)

t.test('an option without rules does not compile, for screenshots and videos alike', async (t) => {
  const schema = z.boolean()
  const declared: OptionGroup['options'] = { viewportWide: option({ links: 'yes', picture: 'yes' }, schema) }
  // @ts-expect-error the option has no rules
  const without: OptionGroup['options'] = { videoWide: z.boolean() }
  // @ts-expect-error the option does not say whether it changes the picture
  const half = option({ links: 'yes' }, z.boolean())
  t.equal(declared.viewportWide, schema, 'the schema itself has the rules')
  t.notOk(without.videoWide?.rules)
  t.ok(half.rules)
})

t.test('links refuse every value, one value or no value of an option', async (t) => {
  t.strictSame([isRefusedInLinks('no', 1), isRefusedInLinks('yes', 1), isRefusedInLinks('own_markup', 'a')], [true, false, false])
  t.strictSame(
    [false, true, 'false'].map((value) => isRefusedInLinks({ except: false }, value)),
    [true, false, false],
  )
})

t.test('options that show text or frames of a link itself are own markup', async (t) => {
  t.strictSame(named('links', 'own_markup').sort(), ['html', 'markdown', 'pdfFooterTemplate', 'pdfHeaderTemplate', 'styleUrls', 'styles'])
})

t.test('only time limits, retries, delivery and the cache itself leave the picture unchanged', async (t) => {
  const limits = ['jobTimeout', 'captureTimeout', 'retries', 'retryDelay']
  const delivery = [
    'async',
    'responseType',
    'attachmentName',
    'downloadUrlTtl',
    'retentionDays',
    'webhookUrl',
    'webhookEvents',
    'externalIdentifier',
  ]
  t.strictSame(named('picture', 'no').sort(), [...limits, ...delivery, 'cache', 'cacheTtl', 'cacheRefresh'].sort())
})

t.test('timeout changes the picture if a wait that it limits ends with a picture', async (t) => {
  const rule = optionsByName.get('timeout')?.rules.picture
  if (typeof rule !== 'object') return t.fail('the rule depends on other options')
  const cases: [options: object, changes: boolean][] = [
    [{}, false],
    [{ bestAttempt: true }, true],
    [{ waitUntil: ['load', 'networkidle'] }, true],
    [{ scriptsWaitUntil: ['networkidle'] }, true],
    [{ waitUntil: ['networkidle'], networkIdleTimeout: 60_000 }, true],
    [{ waitForImages: true }, true],
    [{ waitForImages: true, waitForSelectorTimeout: 1_000 }, false],
  ]
  for (const [options, changes] of cases) t.equal(rule.holds({ ...captureDefaults, ...options }), changes, JSON.stringify(options))
  t.match(rule.when, 'best_attempt')
})
