"""Word lists of the offline model: where a phrase ends, and which words give a facet away.

Small closed lists instead of a tagger: tagger weights cannot be had from a package index without a
download at run time, and a phrase boundary needs no more than this.
"""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    """a an the this that these those such same other another each every any some all both few many much more
    most several own no not nor neither either only even just also too very quite rather almost nearly about
    around roughly still yet already often usually frequently sometimes always never ever once twice again
    and or but if then than so as because since while whereas although though unless until when whenever where
    wherever whether which who whom whose what why how however therefore thus hence instead otherwise moreover
    of in on at by for from to into onto over under above below between among through across during before
    after within without against toward towards upon along with per via like unlike despite beyond behind
    it its itself they them their theirs themselves he she his her we us our ours you your i me my one ones
    is are was were be been being am do does did done doing have has had having can could may might must shall
    should will would cannot need needs needed here there now today later earlier first second third last next
    hundred thousand million billion eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty dozen hundreds
    two three four five six seven eight nine ten dozens hundreds thousands millions half up down out off
    first-time at-once less least fewer enough etc e.g i.e versus vs further together apart alone far long well
    close closely directly largely mostly mainly merely simply easily strongly clearly fully partly entirely
    itself whole single given using based able unable due prior previous earlier existing recent new novel
    different various certain particular general generally specific separate additional main key good better
    best bad worse worst high higher highest low lower lowest large larger largest small smaller smallest long
    longer short shorter great strong weak hard easy rare common similar comparable early late true false real
    actual possible likely plausible useful careful automatically jointly iteratively explicitly repeatedly
    independently consistently slightly sharply considerably substantially significantly accordingly mere
    equal full expensive cheap costly slow fast untested unclear open missing wrong little lot lots way ways kind
    kinds part parts rest amount number numbers thing things case cases example examples extent need wide widely
    inside outside whatever whoever including excluding free else everything nothing anything something nobody anyone someone others""".split()
)

VERBS = frozenset(
    """use uses used add adds added make makes made making give gives gave given giving take takes took taken
    show shows showed shown showing find finds found let lets keep keeps kept put puts hold holds held run runs
    ran running train trains trained learn learns learned generate generates generated produce produces produced
    improve improves improved reach reaches reached raise raises raised reduce reduces reduced lower lowers
    lowered cut cuts beat beats match matches matched exceed exceeds exceeded outperform outperforms
    outperformed surpass surpasses surpassed achieve achieves achieved obtain obtains obtained yield yields
    yielded turn turns turned combine combines combined extend extends extended introduce introduces introduced
    propose proposes proposed present presents presented describe describes described define defines defined
    build builds built construct constructs constructed create creates created form forms formed organize
    organizes organized collect collects collected gather gathers gathered select selects selected choose
    chooses chose chosen pick picks picked rank ranks ranked sort sorts sorted score scored rate rates
    rated judge judges judged evaluate evaluates evaluated measure measures measured test tests tested compare
    compares compared studied examine examines examined analyze analyzes analyzed ask asks asked
    prompt prompts prompted call calls called feed feeds fed pass passes passed send sends sent return returns
    returned receive receives received retrieve retrieves retrieved searches searched read reads write
    writes wrote written rewrite rewrites edit edits edited revise revises revised refine refines refined
    replace replaces replaced remove removes removed drop drops dropped mask masks masked copy copies copied
    share shares shared split splits divide divides divided merge merges merged join joins joined link links
    linked connect connects connected attach attaches attached inject injects injected insert inserts inserted
    encode encodes encoded decode decodes decoded map maps mapped project projects projected sample samples
    sampled predict predicts predicted estimate estimates estimated optimize optimizes optimized tune tunes
    tuned fine-tune fine-tunes fine-tuned finetune adapt adapts adapted update updates updated freeze freezes
    frozen solve solves solved answer answers answered plan planned act acts acted observe observes
    observed reflect reflects reflected remember remembers store stores stored depend depends depended rely
    relies relied require requires required demand demands demanded assume assumes assumed remain remains
    remained stay stays stayed leave leaves left lack lacks lacked fail fails failed lose loses lost miss
    misses missed ignore ignores ignored suffer suffers suffered limit limits limited restrict restricts
    restricted prevent prevents prevented avoid avoids avoided allow allows allowed enable enables enabled
    permit permits help helps helped support supports supported serve serves served work works worked apply
    applies applied transfer transfers transferred generalize generalizes generalized scale scales scaled grow
    grows grew grown increase increases increased decrease decreases decreased change changes changed become
    becomes became come comes came go goes went gone lead leads led bring brings brought carry carries carried
    follow follows followed start starts started begin begins began end ends ended stop stops stopped continue
    continues continued seem seems seemed appear appears appeared look looks see sees saw seen know knows knew
    known mean means meant say says said tell tells told treat treats treated consider considers considered
    represent represents represented contain contains contained include includes included cover covers covered
    involve involves involved concern concerns concerned address addresses addressed tackle tackles tackled
    handle handles handled provide provides provided offer offers offered supply supplies supplied get gets got
    inherit inherits inherited spend spends spent costs save saves saved pay pays paid waste wastes break
    breaks broke broken degrade degrades degraded hurt hurts drift drifts drifted compound compounds propagate
    propagates lag lags lagged differ differs differed vary varies varied range ranges ranged rest rests
    released release releases trained pretrained-on guided guide guides conditioned condition conditions
    demonstrate demonstrates demonstrated reveal reveals revealed indicate indicates confirm confirms confirmed
    suggest suggests suggested argue argues argued report reports reported claim claims identify identifies
    identified detect detects detected recognize recognizes recognized verify verifies verified check checks
    checked correct corrects corrected exploit exploits exploited explore explores explored expand expands
    expanded interleave interleaves interleaved alternate alternates decompose decomposes decomposed
    formulate formulates cast casts aggregate aggregates aggregated weight weights weighted vote votes voted
    equip equips equipped augment augments augmented ground grounds grounded steer steers steered
    controls controlled transform transforms transformed convert converts converted translate translates
    assign assigns assigned place places placed set sets mix mixes mixed suffice suffices dominate dominates
    dominated persist persists stem stems arise arises occur occurs happen happens amplify amplifies
    understand understands understood perform performs performed conduct conducts conducted execute executes
    executed simulate simulates simulated implement implements implemented designs designed
    extract extracts multiply multiplies assemble assembles embed embeds swap swaps hide hides borrow borrows
    destroy destroys govern governs regress regresses omit omits enlarge enlarges compress compresses express
    expresses concatenate concatenates grade grades lay lays fit fits drive drives pose poses teach teaches tend
    tends append appends prepend prepends dwell dwells derive derives shape shapes exist exists flatten flattens
    repeat repeats rebuild rebuilds open opens close closes proceed proceeds adjust adjusts re-encode re-encodes
    try tries tried survive survives validate validates validated correlate correlates correlated met meet meets
    reasons punish punishes arrive arrives arrived exceed lag vary differ
    parse parses parsed point points pointed
    rise rises condense condenses accept accepts draw draws hand hands aid aids replay replays lean leans trail
    trails belong belongs cope copes isolate isolates distil distils stack stacks move moves moved
    separates inflates modulates unifies unify unified proved prove proves seek seeks sought
    had-to led-to made-from thought think thinks want wants wanted yielding using being having getting
    """.split()
)

GERUND_NOUNS = frozenset(
    """reasoning prompting planning learning training tuning fine-tuning sampling ranking re-ranking reranking judging
    editing inpainting voting grounding conditioning answering understanding embedding setting scaling pretraining
    pre-training encoding decoding denoising matching scoring modelling modeling processing engineering indexing
    retraining debugging programming browsing captioning backtracking clipping filtering parsing red-teaming
    bootstrapping grading labelling annealing routing caching pruning chunking testing writing reading""".split()
)
"""Words in -ing that end a noun phrase (others are taken for verbs there)."""

CUES: dict[str, frozenset[str]] = {
    "problem": frozenset(
        """could cannot earlier previous existing prior lacked lack required needed struggled rarely
        unclear ignored difficult expensive limited failed usually had whereas""".split()
    ),
    "method": frozenset(
        """uses trains introduces proposes builds combines extends adds learns samples prompts retrieves
        generates splits alternates asks treats interleaves observes replaces organizes then each""".split()
    ),
    "finding": frozenset(
        """improved improves outperformed reached beat raised results experiments accuracy gains showed
        percent matched exceeded revealed surpassed raised solved helped benchmarks found better state-of-the-art points""".split()
    ),
    "limitation": frozenset(
        """however remains remain cannot fails fail not no guarantee rather depends depend only costly untested unclear still
        limited inherits inherit open unsolved restricted relies requires expensive lacks narrow brittle
        whether without""".split()
    ),
    "experiment": frozenset(
        """benchmark benchmarks dataset datasets evaluated experiments baselines tested accuracy results
        compared ablation metrics judged""".split()
    ),
}

DATASET_WORDS = frozenset(
    "benchmark benchmarks dataset datasets corpus collection questions problems tasks images suite".split()
)
METRIC_WORDS = frozenset("accuracy score f1 bleu rouge fid recall precision perplexity rate elo".split())
GENERIC_WORDS = frozenset(
    """language model models system systems method methods approach approaches text task tasks paper papers data
    agent agents network networks training research study studies framework image images llm llms ai work""".split()
)
"""A phrase made of these alone says nothing about an idea."""

MODEL_WORDS = frozenset("model models network transformer agent agents system framework".split())
