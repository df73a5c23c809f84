import t from 'tap'
import { RetryableError } from '../../../../operator/src/controller/errors.ts'
import { Charges } from '../../../../operator/src/quota/charges.ts'
import { aScreenshot } from '../../../support/builders.ts'

const shot = (uid: string) => aScreenshot({ name: `mine-${uid}`, metadata: { uid }, spec: { accountName: 'acme' } })

t.test('charges ask once for a Screenshot, however often it is asked for', async (t) => {
  const asked: string[] = []
  const charges = new Charges((account) => asked.push(account))
  const answers = [charges.ask(shot('a')), charges.ask(shot('a')), charges.ask(shot('b'))]
  const pending = charges.pendingOf('acme')
  t.match(pending, [
    { uid: 'a', name: 'mine-a' },
    { uid: 'b', name: 'mine-b' },
  ])
  charges.answer('acme', pending[0]!, 'charged')
  charges.answer('acme', pending[1]!, 'quota')
  t.strictSame(await Promise.all(answers), ['charged', 'charged', 'quota'])
  t.strictSame(charges.pendingOf('acme'), [])
  t.strictSame(asked, ['acme', 'acme', 'acme'])
})

t.test('charges let nobody wait beyond the term', async (t) => {
  const charges = new Charges(() => {})
  const answer = charges.ask(shot('a'))
  charges.giveUp()
  await t.rejects(answer, RetryableError)
  t.strictSame(charges.pendingOf('acme'), [])
})
