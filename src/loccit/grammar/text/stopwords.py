"""Stop words: function words that carry no meaning in a query. Dropped from queries only; the index keeps them."""

from __future__ import annotations

_WORDS = {
    "en": """
        a about after all also am an and any are aren as at be because been before being between both but by can
        cannot cant could did didnt do does doesnt doing dont during each for from had has hasnt have having he her
        here hers him his how i if im in into is isnt it its ive just like may me might more most must my no nor
        not of off on once only or other our ours out over please shall she should so some such tell than that thats
        the their theirs them then there theres these they this those through to too under until up us very was
        wasnt we were werent what whats when where which while who whom whose why will with within would you your
        yours""",
    "de": """
        ab aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus
        bei bin bis bist da damit dann darf das dass dasselbe dazu dein deine dem den denn der des dessen deren
        dich die dies diese diesem diesen dieser dieses dir doch dort du durch durfen ein eine einem einen einer
        eines er es etwas euch euer fur gegen habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem
        ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes jene kann konnen kein keine keinen man
        mein meine mich mir mit muss mussen nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem
        seinen seiner sich sie sind so soll sollen sollte sondern sonst uber um und uns unser unter viel vom von
        vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer werde werden wie
        wieder will wir wird wo worden zu zum zur zwischen""",
    "fr": """
        a ai ainsi alors apres as au aucun aussi autre aux avait avant avec avez avoir avons c car ce ceci cela celle
        celles celui ces cet cette ceux chaque chez ci comme comment d dans de depuis des donc dont du elle elles en
        encore entre es est et etaient etait etant ete etes etre eux fait faut font ici il ils j je jusqu l la le les
        leur leurs lors lui m ma mais meme memes mes moi mon n ne ni nos notre nous on ont ou par parce pas pendant
        peu peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si soit son
        sont sous sur t ta te tes toi ton tous tout toute toutes tres tu un une vers vos votre vous y""",
    "es": """
        a al algo algun alguna algunas algunos ante antes aquel aquella aquellas aquellos asi aun cada como con contra
        cual cuales cuando de del desde donde dos durante e el ella ellas ellos en entre era eran eres es esa esas ese
        eso esos esta estaba estan estar estas este esto estos fue fueron ha habia han has hasta hay he la las le les
        lo los mas me mi mientras mis muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero
        poco por porque puede pueden que quien quienes se sea ser si sido sin sobre solo son su sus tal tambien tanto
        te tiene tienen toda todas todo todos tu tus u un una unas uno unos usted vosotros y ya yo""",
    "it": """
        a ad agli ai al alla alle allo anche ancora avere aveva c che chi ci ciascuno cio coi col come con contro cosa
        cosi cui d da dagli dai dal dalla dalle dallo dei degli del dell della delle dello deve di dopo dove e ed
        egli era erano essa esse essere essi fra gia gli ha hai hanno ho i il in io l la le lei li lo loro lui ma
        me mentre mi mia mie miei mio molto ne negli nei nel nell nella nelle nello noi non nostra nostro o ogni
        oppure per perche piu poi puo qual quale quali quando quanto quella quelle quelli quello questa queste questi
        questo qui quindi se sei si sia siamo sono sotto su sua sue sugli sui sul sull sulla sulle suo suoi tra tu
        tutta tutte tutti tutto un una uno vi voi""",
    "pt": """
        a ao aos aquela aquelas aquele aqueles aquilo as ate cada com como contra da das de dela dele deles depois
        desde do dos e ela elas ele eles em entre era eram essa essas esse esses esta estao estar estas estava este
        estes eu foi foram ha isso isto ja la lhe lhes lo mais mas me mesmo meu meus minha muito na nas nem no nos
        nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos pode podem por porque
        qual quais quando que quem sao se seja sem ser sera seu seus sob sobre so sua suas tal tambem te tem tendo
        ter teu teve todo todos tu tua um uma umas uns voce voces""",
    "nl": """
        aan al alle alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er
        ge geen geweest haar had hadden heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je jij jou
        jouw kan kon kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons
        onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat
        we welk welke wel werd werden wie wij wil wordt worden zal ze zelf zich zij zijn zo zonder zou""",
}
STOPWORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _WORDS.items()
}
"""By language code; lower case, without accents and apostrophes."""
