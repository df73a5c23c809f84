import type { ComponentChildren } from 'preact'

interface PanelProps {
  title: string
  /** Shown beside the title. */
  beside?: ComponentChildren
  children: ComponentChildren
}

/** A part of a page with a title. */
export function Panel({ title, beside, children }: PanelProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  )
}
