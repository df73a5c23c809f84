import { useState } from 'preact/hooks'
import { api, recordPath, type Screenshot } from '../api/client.ts'
import { Checkbox } from '../form/inputs.tsx'
import { type Box, formatShare, frameOf, placeIn, type Size, toPictureUrl } from '../format/pictures.ts'
import { formatNumber } from '../format/text.ts'
import { ChangeBadge, Note } from '../ui/notes.tsx'
import { Fact, Panel } from '../ui/panel.tsx'
import { useData } from '../ui/use-data.ts'

type Comparison = NonNullable<Screenshot['comparison']>

const VIEWS = { slider: 'Slider', before: 'Before', after: 'After', differences: 'Differences' } as const
type View = keyof typeof VIEWS

const REASONS: Readonly<Record<string, string>> = {
  blank: 'This picture shows one color, so it was not compared.',
  bot_challenge: 'This picture shows a bot challenge or a captcha, so it was not compared.',
  http_error: 'This picture shows an error page, so it was not compared.',
  login: 'This picture shows a login form where there was none, so it was not compared.',
  broken_off: 'The response of this page broke off, so it was not compared.',
}

/** One of the pictures, with its size in pixels. */
interface Layer {
  url: string
  size: Size
}

function layerOf(url: string | null | undefined, shot: Pick<Screenshot, 'width' | 'height'> | undefined): Layer | undefined {
  const source = toPictureUrl(url ?? null)
  return source === undefined || !shot?.width || !shot.height
    ? undefined
    : { url: source, size: { width: shot.width, height: shot.height } }
}

/** How a screenshot differs from the one of `compare_to`: both pictures above each other, the changed regions, and the numbers. */
export function ComparisonPanel({ shot, comparison }: { shot: Screenshot; comparison: Comparison }) {
  const {
    to,
    changed,
    changed_ratio: ratio,
    changed_pixels: pixels,
    size_changed: isOtherSize,
    regions,
    dropped_regions: dropped,
    skipped,
  } = comparison
  const { value: earlier, error } = useData(`comparison ${to}`, async () => (await api<Screenshot>(recordPath('screenshots', to))).data)
  return (
    <Panel title="Comparison" beside={skipped === null && <ChangeBadge changed={changed} />}>
      {skipped === null ? null : <Note kind="warning">{REASONS[skipped] ?? 'The pictures were not compared.'}</Note>}
      {error ? <Note kind="warning">The earlier screenshot was deleted, or cannot be read.</Note> : null}
      {skipped === null ? <Pictures shot={shot} comparison={comparison} earlier={earlier} isLoading={!earlier && !error} /> : null}
      <dl class="facts">
        <Fact name="Compared with">
          <a href={`#/screenshots/${to}`}>{to}</a>
        </Fact>
        <Fact name="Changed">{ratio !== null && pixels !== null && `${formatShare(ratio)}, ${formatNumber(pixels)} pixels`}</Fact>
        <Fact name="Size">
          {isOtherSize && earlier && `${earlier.width} × ${earlier.height} before, ${shot.width} × ${shot.height} after`}
        </Fact>
        <Fact name="Regions">
          {regions.length > 0 && regions.map(({ x, y, width, height }) => `${width} × ${height} at ${x}, ${y}`).join('; ')}
        </Fact>
        <Fact name="Differences">
          {comparison.diff_url === null ? null : (
            <a href={toPictureUrl(comparison.diff_url)} target="_blank" rel="noreferrer" download aria-label="Download the differences">
              Download
            </a>
          )}
        </Fact>
        <Fact name="Words">
          {comparison.text_changed === null ? null : comparison.text_changed ? <Words {...comparison} /> : 'the same'}
        </Fact>
        <Fact name="Not counted">
          {dropped ? `${dropped === 1 ? 'one region' : `${formatNumber(dropped)} regions`}, in which two loads of the page differ` : null}
        </Fact>
      </dl>
    </Panel>
  )
}

function Words({ words_removed: removed, words_added: added }: Pick<Comparison, 'words_added' | 'words_removed'>) {
  return (
    <>
      <del>{removed.join(' ')}</del> <ins>{added.join(' ')}</ins>
    </>
  )
}

interface PicturesProps {
  shot: Screenshot
  comparison: Comparison
  earlier: Screenshot | undefined
  /** The earlier screenshot is being read. The slider has its place already, so that nothing moves. */
  isLoading: boolean
}

function Pictures({ shot, comparison, earlier, isLoading }: PicturesProps) {
  const before = layerOf(earlier?.download_url, earlier)
  const after = layerOf(shot.download_url, shot)
  const frame = frameOf([before?.size, after?.size].filter((size) => size !== undefined))
  const difference = layerOf(comparison.diff_url, frame)
  const layers: Readonly<Record<View, Layer | undefined>> = {
    slider: before || isLoading ? after : undefined,
    before,
    after,
    differences: difference,
  }
  const views = (Object.keys(VIEWS) as View[]).filter((one) => layers[one])
  const [chosen, setChosen] = useState<View>('slider')
  const [areRegionsShown, setRegionsShown] = useState(true)
  const [split, setSplit] = useState(50)
  const view = views.includes(chosen) ? chosen : views[0]
  if (view === undefined) return <p class="empty">The files have expired.</p>
  return (
    <>
      <div class="comparison-tools">
        <fieldset class="segments" aria-label="Picture">
          {views.map((one) => (
            <label key={one}>
              <input type="radio" name="comparison-view" checked={one === view} onChange={() => setChosen(one)} />
              <span>{VIEWS[one]}</span>
            </label>
          ))}
        </fieldset>
        {comparison.regions.length > 0 ? (
          <Checkbox class="plain-label" isChecked={areRegionsShown} onCheck={setRegionsShown}>
            Changed regions
          </Checkbox>
        ) : null}
      </div>
      {view === 'slider' ? (
        <input
          type="range"
          class="split"
          min="0"
          max="100"
          aria-label="Share of the picture before"
          aria-valuetext={`${split} % before, ${100 - split} % after`}
          value={split}
          onInput={(event) => setSplit(Number(event.currentTarget.value))}
        />
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the frame scrolls, so the keyboard must be able to reach it */}
      <section class="frame" aria-label={VIEWS[view]} tabIndex={0}>
        <div class="overlay" style={{ aspectRatio: `${frame.width} / ${frame.height}`, maxWidth: `${frame.width}px` }}>
          {view === 'slider' ? (
            <>
              <Picture layer={after} frame={frame} name="After" />
              <Picture layer={before} frame={frame} name="Before" clip={split} />
              <span class="divider" style={{ left: `${split}%` }} aria-hidden="true" />
            </>
          ) : (
            <Picture layer={layers[view]} frame={frame} name={VIEWS[view]} />
          )}
          {areRegionsShown ? comparison.regions.map((box) => <Region key={`${box.x} ${box.y}`} frame={frame} box={box} />) : null}
        </div>
      </section>
    </>
  )
}

/** The place of a comparison that is being read. `size` is that of its pictures. */
export function ComparisonPlaceholder({ size: { width, height } }: { size: Size }) {
  return (
    <section class="panel" aria-label="Comparison" aria-busy="true">
      <div class="panel-head">
        <h2>Comparison</h2>
      </div>
      <div class="comparison-tools">
        <span class="segments">
          <span>{VIEWS.slider}</span>
        </span>
      </div>
      <input type="range" class="split" disabled aria-label="Share of the picture before" />
      <div class="frame">
        <div class="overlay" style={{ aspectRatio: `${width} / ${height}`, maxWidth: `${width}px` }} />
      </div>
      <dl class="facts">
        <Fact name="Compared with">…</Fact>
        <Fact name="Changed">…</Fact>
      </dl>
    </section>
  )
}

/** @param clip percent of the frame's width from the left that are shown */
function Picture({ layer, frame, name, clip }: { layer: Layer | undefined; frame: Size; name: string; clip?: number }) {
  if (!layer) return null
  return (
    <div class="layer" style={clip === undefined ? {} : { clipPath: `inset(0 ${100 - clip}% 0 0)` }}>
      <img src={layer.url} alt={name} referrerpolicy="no-referrer" style={placeIn(frame, { x: 0, y: 0, ...layer.size })} />
    </div>
  )
}

const Region = ({ frame, box }: { frame: Size; box: Box }) => <span class="region" style={placeIn(frame, box)} aria-hidden="true" />
