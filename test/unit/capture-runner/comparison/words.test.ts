import t from 'tap'
import { inTurns } from '../../../../capture-runner/src/comparison/in-turns.ts'
import { compareWords, diffWords } from '../../../../capture-runner/src/comparison/words.ts'

const compare = (...texts: Parameters<typeof compareWords>) => inTurns(compareWords(...texts), AbortSignal.timeout(60_000))

t.test('diffWords finds changes that turn one list into the other', async (t) => {
  t.strictSame(diffWords([], []), [])
  t.strictSame(diffWords(['a'], ['a']), [])
  t.strictSame(diffWords(['a', 'c'], ['a', 'b', 'c']), [{ at: 1, removed: [], added: ['b'] }])
  t.strictSame(diffWords([...'abcdef'], [...'abXdeY']), [
    { at: 2, removed: ['c'], added: ['X'] },
    { at: 5, removed: ['f'], added: ['Y'] },
  ])
  let state = 7
  const next = (count: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1
    return state % count
  }
  for (let n = 0; n < 200; n++) {
    const [before, after] = [0, 1].map(() => Array.from({ length: next(14) }, () => 'abcd'[next(4)]!)) as [string[], string[]]
    const result = [...before]
    for (const { at, removed, added } of diffWords(before, after).toReversed()) {
      t.strictSame(result.splice(at, removed.length, ...added), removed)
    }
    t.strictSame(result, after, `${before.join('')} ${after.join('')}`)
  }
})

t.test('diffWords does not search for the shortest script of texts that have nothing in common', async (t) => {
  const [before, after] = ['a', 'b'].map((letter) => Array.from({ length: 3_000 }, (_, n) => `${letter}${n}`)) as [string[], string[]]
  t.strictSame(diffWords(['x', ...before, 'y'], ['x', ...after, 'y']), [{ at: 1, removed: before, added: after }])
})

t.test('a text of a few different words kept the runner busy, because the search passes them again for each change', async (t) => {
  const [before, after] = ['x', 'y'].map((word) => Array.from({ length: 4_000 }, (_, n) => (n % 100 === 0 ? word : 'a'))) as [
    string[],
    string[],
  ]
  t.equal(diffWords(before, after).length, 40)
  t.equal(diffWords(before, after, 3_000).length, 1, 'one change from the first to the last')
})

t.test('compareWords finds the words that changed', async (t) => {
  t.strictSame(await compare('Nebula\t19.50  EUR', 'Nebula 99.50 EUR SOLD OUT'), {
    ...{ textChanged: true, wordsAdded: ['99.50', 'SOLD', 'OUT'], wordsRemoved: ['19.50'] },
  })
  t.strictSame(await compare('a b\nc', 'a  b c'), { textChanged: false, wordsAdded: [], wordsRemoved: [] }, 'other white space')
  t.match(await compare('one two three', 'two three one'), { textChanged: true }, 'another order')
  t.match(await compare('', ''), { textChanged: false })
})

t.test('compareWords counts only changes that two loads agree on', async (t) => {
  const earlier = 'Price 19.50 Request 5f3a end'
  t.match(await compare(earlier, 'Price 19.50 Request 81bc end', 'Price 19.50 Request 02de end'), {
    ...{ textChanged: false, wordsAdded: [], wordsRemoved: [] },
  })
  t.match(await compare(earlier, 'Price 99.50 Request 81bc end', 'Price 99.50 Request 02de end'), {
    ...{ textChanged: true, wordsAdded: ['99.50'], wordsRemoved: ['19.50'] },
  })
  t.match(await compare('19.50 5f3a', '99.50 81bc', '99.50 02de'), { wordsAdded: ['99.50'], wordsRemoved: ['19.50'] }, 'side by side')
})

t.test('a list whose items each load shuffles raised an alarm, because its numbers made each item a change of its own', async (t) => {
  const list = (items: string) => [...items].map((item, index) => `${index + 1}. ${item}`).join(' ')
  const { textChanged } = await compare(list('abcdefgh'), list('bcdefgha'), list('bdcfehag'))
  t.notOk(textChanged, 'the loads agree on one item of eight')
  const shuffled = await compare(`News. ${list('abcdefgh')}`, `Late. ${list('bcdefgha')}`, `Late. ${list('bdcfehag')}`)
  t.strictSame(shuffled.wordsAdded, ['Late.'], 'a change beside the list counts')
  const changed = await compare(list('abcdefgh'), list('aXcdefgh'), list('aXcdefgh'))
  t.strictSame(changed.wordsAdded, ['X'])
  const most = await compare(list('abcdefgh'), list('ijklmnop'), list('ijkxmnop'))
  t.strictSame(most.wordsAdded, [...'ijkmnop'])
})

t.test('compareWords limits the number and the length of the words', async (t) => {
  const many = Array.from({ length: 50 }, (_, n) => `${n}${'x'.repeat(100)}`).join(' ')
  const { wordsAdded } = await compare('', many)
  t.equal(wordsAdded.length, 20)
  t.equal(wordsAdded[0]!.length, 64)
})
